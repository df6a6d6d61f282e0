// The Flex Consumption plan and the app on it.
param name string
param planName string
param identityId string
param identityClientId string
param storageName string
param packageContainerUrl string
param serviceBusHost string
param eventHubsHost string
param cosmosEndpoint string
param componentConnectionString string
@description('Of the network through which the app reaches its services; empty for the public network.')
param subnetId string
param location string
param tags object

// Each instance has a worker with one event loop, which is busy on one core; 2048 MB is the size that comes with one.
var instanceMemoryMB = 2048

// Every function scales by itself up to here: the least that the plan has always accepted as a maximum. With 16 messages
// at once on each it is the database that limits, not this: docs/host-settings.md.
var maximumInstanceCount = 40

// Names of settings are those that the triggers name as their connection and that shared/settings.py reads.
var settings = {
  AZURE_CLIENT_ID: identityClientId
  AzureWebJobsStorage__accountName: storageName
  AzureWebJobsStorage__credential: 'managedidentity'
  AzureWebJobsStorage__clientId: identityClientId
  ServiceBusConnection__fullyQualifiedNamespace: serviceBusHost
  ServiceBusConnection__credential: 'managedidentity'
  ServiceBusConnection__clientId: identityClientId
  EventHubConnection__fullyQualifiedNamespace: eventHubsHost
  EventHubConnection__credential: 'managedidentity'
  EventHubConnection__clientId: identityClientId
  CosmosConnection__accountEndpoint: cosmosEndpoint
  CosmosConnection__credential: 'managedidentity'
  CosmosConnection__clientId: identityClientId
  APPLICATIONINSIGHTS_CONNECTION_STRING: componentConnectionString
  APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${identityClientId};Authorization=AAD'
  PYTHON_APPLICATIONINSIGHTS_ENABLE_TELEMETRY: 'true'
  // Our own spans show each request to the database; the SDK's would show it a second and third time.
  OTEL_PYTHON_DISABLED_INSTRUMENTATIONS: 'azure_sdk,requests,urllib,urllib3'
}

resource plan 'Microsoft.Web/serverfarms@2025-03-01' = {
  name: planName
  location: location
  tags: tags
  kind: 'functionapp'
  sku: {
    name: 'FC1'
    tier: 'FlexConsumption'
  }
  properties: { reserved: true }
}

resource app 'Microsoft.Web/sites@2025-03-01' = {
  name: name
  location: location
  // azd finds the app of a service by this tag; the value is the service's name in azure.yaml.
  tags: union(tags, { 'azd-service-name': 'api' })
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identityId}': {} }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    virtualNetworkSubnetId: empty(subnetId) ? null : subnetId
    siteConfig: {
      minTlsVersion: '1.2'
      scmMinTlsVersion: '1.2'
      ftpsState: 'Disabled'
      appSettings: [for setting in items(settings): {
        name: setting.key
        value: setting.value
      }]
    }
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: packageContainerUrl
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identityId
          }
        }
      }
      scaleAndConcurrency: {
        instanceMemoryMB: instanceMemoryMB
        maximumInstanceCount: maximumInstanceCount
      }
      runtime: {
        name: 'python'
        version: '3.13'
      }
    }
  }

  // Publishing by user name and password; azd and Core Tools come with a token.
  resource ftp 'basicPublishingCredentialsPolicies' = {
    name: 'ftp'
    properties: { allow: false }
  }

  resource scm 'basicPublishingCredentialsPolicies' = {
    name: 'scm'
    properties: { allow: false }
    dependsOn: [
      ftp
    ]
  }
}

output name string = app.name
output uri string = 'https://${app.properties.defaultHostName}'
