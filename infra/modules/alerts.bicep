// What somebody should hear of. Log alerts ask Application Insights for metrics (docs/telemetry.md), never for traces,
// which are sampled. Each query gives a number called 'value' for every 'subject', and the rule watches each subject.
param actionGroupName string
param email string
param componentId string
param serviceBusId string
param eventHubsId string
param queueNames array
param hubNames array
param location string
param tags object

// Azure Monitor's severities: 1 error, 2 warning, 3 informational.
var error = 1
var warning = 2

// 'periods': in how many windows in a row it must be so. One where a single occurrence needs a person; three where a
// blip is normal and only what stays is a fault: such a query keeps 'timestamp', by which the rule tells windows apart.
var logAlerts = [
  {
    name: 'fingerprint-mismatches'
    description: 'A message came with the id of another one and different content: a producer reuses ids. Nothing was written; the message is dead-lettered or parked.'
    query: loadTextContent('../queries/alerts/fingerprint-mismatches.kql')
    severity: error
    window: 'PT15M'
    threshold: 0
    periods: 1
  }
  {
    name: 'parked-events'
    description: 'Events were parked: table ParkedEvents of the storage account holds them with the reason.'
    query: loadTextContent('../queries/alerts/parked-events.kql')
    severity: error
    window: 'PT15M'
    threshold: 0
    periods: 1
  }
  {
    // Percent. Redelivery after a crash or a deployment is a percent or two for minutes. A quarter over an hour means a
    // producer that sends twice, or locks that expire while their messages are worked on.
    name: 'duplicate-share'
    description: 'More than a quarter of the deliveries of an hour are duplicates. They do no harm and cost money: see duplicates by cause in the workbook.'
    query: loadTextContent('../queries/alerts/duplicate-share.kql')
    severity: warning
    window: 'PT1H'
    threshold: 25
    periods: 1
  }
  {
    // Seconds, of queues and streams alike. A message or a batch takes seconds; a restart or a deployment a few minutes.
    name: 'event-lag'
    description: 'Messages or events wait longer than 15 minutes: a message comes again and again, a partition was stuck, or there are fewer instances than queue or stream needs.'
    query: loadTextContent('../queries/alerts/event-lag.kql')
    severity: warning
    window: 'PT15M'
    threshold: 900
    periods: 1
  }
  {
    // Percent. Up to 5 % of requests answered with 429 are healthy use of what is paid for ("Diagnose and troubleshoot
    // Azure Cosmos DB request rate too large").
    name: 'store-throttling'
    description: 'Cosmos DB turns away more than 5 % of the requests to a container: raise the throughput, or look for a hot partition.'
    query: loadTextContent('../queries/alerts/store-throttling.kql')
    severity: warning
    window: 'PT5M'
    threshold: 5
    periods: 3
  }
  {
    // Percent. Single commits fail and are tried again; one in twenty for a quarter of an hour is an outage.
    name: 'failing-commits'
    description: 'More than 5 % of the commits to a container fail, conflicts and throttling not counted. Messages wait and are not lost.'
    query: loadTextContent('../queries/alerts/failing-commits.kql')
    severity: error
    window: 'PT5M'
    threshold: 5
    periods: 3
  }
]

resource people 'Microsoft.Insights/actionGroups@2023-01-01' = if (!empty(email)) {
  name: actionGroupName
  location: 'global'
  tags: tags
  properties: {
    groupShortName: 'consumers'
    enabled: true
    emailReceivers: [
      {
        name: 'operators'
        emailAddress: email
        useCommonAlertSchema: true
      }
    ]
  }
}

var peopleIds = empty(email) ? [] : [people.id]

resource logAlert 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = [for alert in logAlerts: {
  name: alert.name
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: alert.name
    description: alert.description
    severity: alert.severity
    enabled: true
    scopes: [componentId]
    evaluationFrequency: 'PT5M'
    windowSize: alert.window
    criteria: {
      allOf: [
        {
          query: alert.query
          metricMeasureColumn: 'value'
          timeAggregation: 'Maximum'
          operator: 'GreaterThan'
          threshold: alert.threshold
          dimensions: [
            {
              name: 'subject'
              operator: 'Include'
              values: ['*']
            }
          ]
          failingPeriods: {
            numberOfEvaluationPeriods: alert.periods
            minFailingPeriodsToAlert: alert.periods
          }
        }
      ]
    }
    autoMitigate: true
    actions: { actionGroups: peopleIds }
  }
}]

// Counted by the broker, so they hold when the app, and its telemetry, stand still.
resource deadLetters 'Microsoft.Insights/metricAlerts@2018-03-01' = {
  name: 'dead-letters'
  location: 'global'
  tags: tags
  properties: {
    description: 'A dead-letter queue is not empty. The reason and a description are on each message.'
    severity: error
    enabled: true
    scopes: [serviceBusId]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          criterionType: 'StaticThresholdCriterion'
          name: 'dead-lettered'
          metricNamespace: 'Microsoft.ServiceBus/namespaces'
          metricName: 'DeadletteredMessages'
          dimensions: [
            {
              name: 'EntityName'
              operator: 'Include'
              values: queueNames
            }
          ]
          timeAggregation: 'Maximum'
          operator: 'GreaterThan'
          threshold: 0
        }
      ]
    }
    autoMitigate: true
    actions: [for id in peopleIds: { actionGroupId: id }]
  }
}

resource queueStandsStill 'Microsoft.Insights/metricAlerts@2018-03-01' = [for queue in queueNames: {
  name: 'queue-stands-still-${queue}'
  location: 'global'
  tags: tags
  properties: {
    description: 'Messages wait in queue ${queue} and none was completed for half an hour: the app does not run, or cannot receive.'
    severity: error
    enabled: true
    scopes: [serviceBusId]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT30M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          criterionType: 'StaticThresholdCriterion'
          name: 'waiting'
          metricNamespace: 'Microsoft.ServiceBus/namespaces'
          metricName: 'ActiveMessages'
          dimensions: [
            {
              name: 'EntityName'
              operator: 'Include'
              values: [queue]
            }
          ]
          timeAggregation: 'Minimum'
          operator: 'GreaterThan'
          threshold: 0
        }
        {
          criterionType: 'StaticThresholdCriterion'
          name: 'completed'
          metricNamespace: 'Microsoft.ServiceBus/namespaces'
          metricName: 'CompleteMessage'
          dimensions: [
            {
              name: 'EntityName'
              operator: 'Include'
              values: [queue]
            }
          ]
          timeAggregation: 'Total'
          operator: 'LessThan'
          threshold: 1
        }
      ]
    }
    autoMitigate: true
    actions: [for id in peopleIds: { actionGroupId: id }]
  }
}]

// A stream that nobody reads reports no lag.
resource streamStandsStill 'Microsoft.Insights/metricAlerts@2018-03-01' = [for hub in hubNames: {
  name: 'stream-stands-still-${hub}'
  location: 'global'
  tags: tags
  properties: {
    description: 'Events came into hub ${hub} and none was read for an hour: the app does not run, or cannot read.'
    severity: error
    enabled: true
    scopes: [eventHubsId]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT1H'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          criterionType: 'StaticThresholdCriterion'
          name: 'incoming'
          metricNamespace: 'Microsoft.EventHub/namespaces'
          metricName: 'IncomingMessages'
          dimensions: [
            {
              name: 'EntityName'
              operator: 'Include'
              values: [hub]
            }
          ]
          timeAggregation: 'Total'
          operator: 'GreaterThan'
          threshold: 0
        }
        {
          criterionType: 'StaticThresholdCriterion'
          name: 'outgoing'
          metricNamespace: 'Microsoft.EventHub/namespaces'
          metricName: 'OutgoingMessages'
          dimensions: [
            {
              name: 'EntityName'
              operator: 'Include'
              values: [hub]
            }
          ]
          timeAggregation: 'Total'
          operator: 'LessThan'
          threshold: 1
        }
      ]
    }
    autoMitigate: true
    actions: [for id in peopleIds: { actionGroupId: id }]
  }
}]
