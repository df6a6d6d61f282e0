// Log Analytics and Application Insights on top of it. Telemetry is accepted from identities only, not by its key.
param workspaceName string
param componentName string
param privateNetworking bool
param location string
param tags object

// 30 days cost nothing beyond the ingestion, and outlast markers (28 days): who asks why a message was dropped as a
// duplicate can still see its original.
var retentionDays = 30

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-07-01' = {
  name: workspaceName
  location: location
  tags: tags
  properties: {
    sku: { name: 'PerGB2018' }
    retentionInDays: retentionDays
    features: { disableLocalAuth: true }
    publicNetworkAccessForIngestion: privateNetworking ? 'Disabled' : 'Enabled'
    // People and alert rules read from wherever they are; Entra ID lets them in.
    publicNetworkAccessForQuery: 'Enabled'
  }
}

resource component 'Microsoft.Insights/components@2020-02-02' = {
  name: componentName
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: workspace.id
    IngestionMode: 'LogAnalytics'
    DisableLocalAuth: true
    publicNetworkAccessForIngestion: privateNetworking ? 'Disabled' : 'Enabled'
    publicNetworkAccessForQuery: 'Enabled'
  }
}

output workspaceId string = workspace.id
output componentId string = component.id
output componentName string = component.name
// Where to send telemetry, not a secret: with local authentication off the key in it opens nothing.
output connectionString string = component.properties.ConnectionString
