// The namespace and its hubs. Standard: Basic keeps events for a day and has a single consumer group.
param name string
@description('Hubs of shared/topology.json as key and value.')
param hubs array
param privateNetworking bool
param location string
param tags object

// One throughput unit takes 1 MB or 1000 events a second in and gives 2 MB out ("Event Hubs quotas and limits").
var throughputUnits = 1

resource streams 'Microsoft.EventHub/namespaces@2024-01-01' = {
  name: name
  location: location
  tags: tags
  sku: {
    name: 'Standard'
    tier: 'Standard'
    capacity: throughputUnits
  }
  properties: {
    disableLocalAuth: true
    minimumTlsVersion: '1.2'
    publicNetworkAccess: privateNetworking ? 'Disabled' : 'Enabled'
  }
}

module hub 'event-hub.bicep' = [for entry in hubs: {
  name: 'event-hub-${entry.key}'
  params: {
    namespaceName: streams.name
    name: entry.key
    partitionCount: entry.value.partitionCount
    messageRetention: entry.value.messageRetention
    consumerGroups: entry.value.consumerGroups
  }
}]

output id string = streams.id
output name string = streams.name
output host string = '${streams.name}.servicebus.windows.net'
