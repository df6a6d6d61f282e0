// Everything the app needs, in one resource group of its own. Entities come from shared/topology.json, the file that
// the app reads as well. No key, connection string with a key, or password appears in a setting or an output.
targetScope = 'subscription'

@minLength(1)
@maxLength(64)
@description('The azd environment: names the resource group, is hashed into every other name, and is a tag on everything.')
param environmentName string

@minLength(1)
@description('The one region of everything. Flex Consumption is not offered in every region.')
@metadata({ azd: { type: 'location' } })
param location string

@description('Object id of whoever runs azd: may look at messages and documents, and send messages again. Empty: nobody may.')
param principalId string

@description('True: the app reaches every service through private endpoints and the services refuse the public network. Service Bus is then Premium. To be chosen before the first deployment.')
param privateNetworking bool

@minValue(0)
@description('0: Cosmos DB is serverless. Otherwise the most request units per second it may scale to, a multiple of 1000. To be chosen before the first deployment.')
param cosmosMaxThroughput int

@description('Where alerts are mailed to. Empty: they show in the portal only.')
param alertEmail string

var abbreviations = loadJsonContent('abbreviations.json')
var topology = loadJsonContent('../shared/topology.json')
var token = toLower(uniqueString(subscription().id, environmentName, location))
var tags = { 'azd-env-name': environmentName }

resource group 'Microsoft.Resources/resourceGroups@2025-04-01' = {
  name: '${abbreviations.resourceGroup}${environmentName}'
  location: location
  tags: tags
}

module identity 'modules/identity.bicep' = {
  name: 'identity'
  scope: group
  params: {
    name: '${abbreviations.managedIdentity}${token}'
    location: location
    tags: tags
  }
}

module monitoring 'modules/monitoring.bicep' = {
  name: 'monitoring'
  scope: group
  params: {
    workspaceName: '${abbreviations.logAnalyticsWorkspace}${token}'
    componentName: '${abbreviations.applicationInsights}${token}'
    privateNetworking: privateNetworking
    location: location
    tags: tags
  }
}

module storage 'modules/storage.bicep' = {
  name: 'storage'
  scope: group
  params: {
    name: '${abbreviations.storageAccount}${token}'
    privateNetworking: privateNetworking
    location: location
    tags: tags
  }
}

module serviceBus 'modules/service-bus.bicep' = {
  name: 'service-bus'
  scope: group
  params: {
    name: '${abbreviations.serviceBusNamespace}${token}'
    queues: items(topology.queues)
    privateNetworking: privateNetworking
    location: location
    tags: tags
  }
}

module eventHubs 'modules/event-hubs.bicep' = {
  name: 'event-hubs'
  scope: group
  params: {
    name: '${abbreviations.eventHubsNamespace}${token}'
    hubs: items(topology.eventHubs)
    privateNetworking: privateNetworking
    location: location
    tags: tags
  }
}

module cosmos 'modules/cosmos.bicep' = {
  name: 'cosmos'
  scope: group
  params: {
    name: '${abbreviations.cosmosAccount}${token}'
    databaseName: topology.database
    containers: items(topology.containers)
    maxThroughput: cosmosMaxThroughput
    privateNetworking: privateNetworking
    location: location
    tags: tags
  }
}

module appAccess 'modules/app-access.bicep' = {
  name: 'app-access'
  scope: group
  params: {
    principalId: identity.outputs.principalId
    storageName: storage.outputs.name
    serviceBusName: serviceBus.outputs.name
    eventHubsName: eventHubs.outputs.name
    cosmosName: cosmos.outputs.name
    componentName: monitoring.outputs.componentName
  }
}

module peopleAccess 'modules/people-access.bicep' = if (!empty(principalId)) {
  name: 'people-access'
  scope: group
  params: {
    principalId: principalId
    storageName: storage.outputs.name
    serviceBusName: serviceBus.outputs.name
    eventHubsName: eventHubs.outputs.name
    cosmosName: cosmos.outputs.name
  }
}

module privateNetwork 'modules/private-network.bicep' = if (privateNetworking) {
  name: 'private-network'
  scope: group
  params: {
    networkName: '${abbreviations.virtualNetwork}${token}'
    scopeName: '${abbreviations.privateLinkScope}${token}'
    endpointPrefix: '${abbreviations.privateEndpoint}${token}'
    storageId: storage.outputs.id
    serviceBusId: serviceBus.outputs.id
    eventHubsId: eventHubs.outputs.id
    cosmosId: cosmos.outputs.id
    workspaceId: monitoring.outputs.workspaceId
    componentId: monitoring.outputs.componentId
    location: location
    tags: tags
  }
}

module functionApp 'modules/function-app.bicep' = {
  name: 'function-app'
  scope: group
  params: {
    name: '${abbreviations.functionApp}${token}'
    planName: '${abbreviations.plan}${token}'
    identityId: identity.outputs.id
    identityClientId: identity.outputs.clientId
    storageName: storage.outputs.name
    packageContainerUrl: storage.outputs.packageContainerUrl
    serviceBusHost: serviceBus.outputs.host
    eventHubsHost: eventHubs.outputs.host
    cosmosEndpoint: cosmos.outputs.endpoint
    componentConnectionString: monitoring.outputs.connectionString
    subnetId: privateNetworking ? privateNetwork!.outputs.appSubnetId : ''
    location: location
    tags: tags
  }
  // An app that starts before it may read its queues and its package would spend its first minutes failing.
  dependsOn: [
    appAccess
  ]
}

module alerts 'modules/alerts.bicep' = {
  name: 'alerts'
  scope: group
  params: {
    actionGroupName: '${abbreviations.actionGroup}${token}'
    email: alertEmail
    componentId: monitoring.outputs.componentId
    serviceBusId: serviceBus.outputs.id
    eventHubsId: eventHubs.outputs.id
    queueNames: map(items(topology.queues), queue => queue.key)
    hubNames: map(items(topology.eventHubs), hub => hub.key)
    location: location
    tags: tags
  }
}

module workbook 'modules/workbook.bicep' = {
  name: 'workbook'
  scope: group
  params: {
    componentId: monitoring.outputs.componentId
    location: location
    tags: tags
  }
}

output AZURE_LOCATION string = location
output AZURE_TENANT_ID string = tenant().tenantId
output AZURE_RESOURCE_GROUP string = group.name
output SERVICE_API_NAME string = functionApp.outputs.name
output SERVICE_API_URI string = functionApp.outputs.uri
output APPLICATION_INSIGHTS_NAME string = monitoring.outputs.componentName
// The names the app reads its settings under: with these a person who is signed in reaches the same services, keyless.
output AzureWebJobsStorage__accountName string = storage.outputs.name
output ServiceBusConnection__fullyQualifiedNamespace string = serviceBus.outputs.host
output EventHubConnection__fullyQualifiedNamespace string = eventHubs.outputs.host
output CosmosConnection__accountEndpoint string = cosmos.outputs.endpoint
