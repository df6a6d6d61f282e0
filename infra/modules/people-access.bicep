// What whoever runs azd may do with the data, and why. Without local authentication even an owner of the subscription
// sees no message and no document. The kind of principal is left out: it may be a person or a pipeline.
param principalId string
param storageName string
param serviceBusName string
param eventHubsName string
param cosmosName string

var roles = loadJsonContent('../roles.json')

var grants = {
  storage: [
    {
      role: 'Storage Blob Data Reader'
      because: 'Reads the bodies of parked events.'
    }
    {
      role: 'Storage Table Data Contributor'
      because: 'Reads parked events and notes on them what was done.'
    }
  ]
  serviceBus: [
    {
      role: 'Azure Service Bus Data Receiver'
      because: 'Looks at dead-lettered messages and takes them out when they were sent again.'
    }
    {
      role: 'Azure Service Bus Data Sender'
      because: 'Sends messages again, and the first one that shows that a deployment works.'
    }
  ]
  eventHubs: [
    {
      role: 'Azure Event Hubs Data Receiver'
      because: 'Reads events, to explain what the app made of them.'
    }
    {
      role: 'Azure Event Hubs Data Sender'
      because: 'Sends parked events again.'
    }
  ]
  cosmos: [
    {
      role: 'Cosmos DB Built-in Data Reader'
      because: 'Reads markers and documents. Nobody writes them by hand: a marker without its documents is a lost message.'
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

resource cosmos 'Microsoft.DocumentDB/databaseAccounts@2025-04-15' existing = {
  name: cosmosName
}

resource onStorage 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for grant in grants.storage: {
  scope: storage
  name: guid(storage.id, principalId, grant.role)
  properties: {
    principalId: principalId
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles[grant.role])
    description: grant.because
  }
}]

resource onServiceBus 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for grant in grants.serviceBus: {
  scope: serviceBus
  name: guid(serviceBus.id, principalId, grant.role)
  properties: {
    principalId: principalId
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles[grant.role])
    description: grant.because
  }
}]

resource onEventHubs 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for grant in grants.eventHubs: {
  scope: eventHubs
  name: guid(eventHubs.id, principalId, grant.role)
  properties: {
    principalId: principalId
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles[grant.role])
    description: grant.because
  }
}]

resource onCosmos 'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments@2024-11-15' = [for grant in grants.cosmos: {
  parent: cosmos
  name: guid(cosmos.id, principalId, grant.role)
  properties: {
    principalId: principalId
    roleDefinitionId: '${cosmos.id}/sqlRoleDefinitions/${roles[grant.role]}'
    scope: cosmos.id
  }
}]
