// The namespace and its queues. Standard: Basic has no duplicate detection. Premium where the network is private, since
// only Premium has private endpoints; a namespace cannot change between the two.
param name string
@description('Queues of shared/topology.json as key and value. Duplicate detection is decided when a queue is made: to change it a queue needs a new name.')
param queues array
param privateNetworking bool
param location string
param tags object

resource bus 'Microsoft.ServiceBus/namespaces@2024-01-01' = {
  name: name
  location: location
  tags: tags
  sku: {
    name: privateNetworking ? 'Premium' : 'Standard'
    tier: privateNetworking ? 'Premium' : 'Standard'
  }
  properties: {
    disableLocalAuth: true
    minimumTlsVersion: '1.2'
    publicNetworkAccess: privateNetworking ? 'Disabled' : 'Enabled'
  }
}

resource queue 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = [for entry in queues: {
  parent: bus
  name: entry.key
  properties: {
    requiresDuplicateDetection: true
    duplicateDetectionHistoryTimeWindow: entry.value.duplicateDetectionHistoryTimeWindow
    lockDuration: entry.value.lockDuration
    maxDeliveryCount: entry.value.maxDeliveryCount
    defaultMessageTimeToLive: entry.value.defaultMessageTimeToLive
    // A message that nobody took in time is a loss unless a person hears of it.
    deadLetteringOnMessageExpiration: true
  }
}]

output id string = bus.id
output name string = bus.name
output host string = '${bus.name}.servicebus.windows.net'
