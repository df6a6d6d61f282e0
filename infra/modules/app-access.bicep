// What the app's identity may do, and why. Nothing else: it cannot send to its own brokers nor change their entities.
param principalId string
param storageName string
param serviceBusName string
param eventHubsName string
param cosmosName string
param componentName string

var roles = loadJsonContent('../roles.json')

// 'because' becomes the description of the assignment, which the portal shows.
var grants = {
  storage: [
    {
      role: 'Storage Blob Data Owner'
      because: 'Leases and secrets of the Functions host, its package, checkpoints of event hubs, bodies of parked events.'
    }
    {
      role: 'Storage Table Data Contributor'
      because: 'Parked events are rows of a table that the app makes when it is missing; diagnostic events of the host.'
    }
  ]
  serviceBus: [
    {
      role: 'Azure Service Bus Data Receiver'
      because: 'Receives and settles messages. Not Data Owner, which could delete queues: docs/deploying.md says what scaling loses.'
    }
  ]
  eventHubs: [
    {
      role: 'Azure Event Hubs Data Receiver'
      because: 'Reads events.'
    }
  ]
  component: [
    {
      role: 'Monitoring Metrics Publisher'
      because: 'Sends telemetry, which is accepted from identities only.'
    }
  ]
  cosmos: [
    {
      role: 'Cosmos DB Built-in Data Contributor'
      because: 'Commits markers and documents. For the account: the check at the start reads its regions.'
    }
  ]
}

resource storage 'Microsoft.Storage/storageAccounts@2025-06-01' existing = {
  name: storageName
}

resource serviceBus 'Microsoft.ServiceBus/namespaces@2024-01-01' existing = {
  name: serviceBusName
}

resource eventHubs 'Microsoft.EventHub/namespaces@2024-01-01' existing = {
  name: eventHubsName
}

resource component 'Microsoft.Insights/components@2020-02-02' existing = {
  name: componentName
}

resource cosmos 'Microsoft.DocumentDB/databaseAccounts@2025-04-15' existing = {
  name: cosmosName
}

resource onStorage 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for grant in grants.storage: {
  scope: storage
  name: guid(storage.id, principalId, grant.role)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles[grant.role])
    description: grant.because
  }
}]

resource onServiceBus 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for grant in grants.serviceBus: {
  scope: serviceBus
  name: guid(serviceBus.id, principalId, grant.role)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles[grant.role])
    description: grant.because
  }
}]

resource onEventHubs 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for grant in grants.eventHubs: {
  scope: eventHubs
  name: guid(eventHubs.id, principalId, grant.role)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles[grant.role])
    description: grant.because
  }
}]

resource onComponent 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for grant in grants.component: {
  scope: component
  name: guid(component.id, principalId, grant.role)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles[grant.role])
    description: grant.because
  }
}]

// Cosmos DB has roles of its own, which have no place for a description.
resource onCosmos 'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments@2024-11-15' = [for grant in grants.cosmos: {
  parent: cosmos
  name: guid(cosmos.id, principalId, grant.role)
  properties: {
    principalId: principalId
    roleDefinitionId: '${cosmos.id}/sqlRoleDefinitions/${roles[grant.role]}'
    scope: cosmos.id
  }
}]
