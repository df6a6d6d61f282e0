// One hub and the consumer groups that the app reads it through.
param namespaceName string
param name string
param partitionCount int
@description('Whole days as ISO 8601, such as P7D.')
param messageRetention string
param consumerGroups array

resource streams 'Microsoft.EventHub/namespaces@2024-01-01' existing = {
  name: namespaceName
}

resource hub 'Microsoft.EventHub/namespaces/eventhubs@2024-01-01' = {
  parent: streams
  name: name
  properties: {
    partitionCount: partitionCount
    messageRetentionInDays: int(replace(replace(messageRetention, 'P', ''), 'D', ''))
  }
}

// Every hub is born with $Default.
resource group 'Microsoft.EventHub/namespaces/eventhubs/consumergroups@2024-01-01' = [for groupName in filter(consumerGroups, one => one != '$Default'): {
  parent: hub
  name: groupName
}]
