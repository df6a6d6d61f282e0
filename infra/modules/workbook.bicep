// The story of the app in one page. Texts and order are in workbook.json; a step of type 3 (a query) has the query of
// the file that is called as the step is.
param componentId string
param location string
param tags object

var template = loadJsonContent('../workbook.json')
var queryStep = 3
var queries = {
  'charge-per-message': loadTextContent('../queries/workbook/charge-per-message.kql')
  'duplicates-by-cause': loadTextContent('../queries/workbook/duplicates-by-cause.kql')
  'event-lag': loadTextContent('../queries/workbook/event-lag.kql')
  latency: loadTextContent('../queries/workbook/latency.kql')
  'needs-a-person': loadTextContent('../queries/workbook/needs-a-person.kql')
  'rejections-by-reason': loadTextContent('../queries/workbook/rejections-by-reason.kql')
  retries: loadTextContent('../queries/workbook/retries.kql')
  'store-answers': loadTextContent('../queries/workbook/store-answers.kql')
  traffic: loadTextContent('../queries/workbook/traffic.kql')
}
var content = {
  version: template.version
  items: map(template.items, item => item.type == queryStep ? union(item, { content: union(item.content, { query: queries[item.name] }) }) : item)
  fallbackResourceIds: [componentId]
}

resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: guid(componentId, 'idempotent-consumers')
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    category: 'workbook'
    displayName: 'Idempotent consumers'
    sourceId: componentId
    serializedData: string(content)
  }
}
