// What the Functions host keeps (leases, checkpoints of event hubs), the deployed package, and parked events. The table
// and the container of parked events are made by the app when the first event is parked.
param name string
param privateNetworking bool
param location string
param tags object

var packageContainer = 'app-package'

resource account 'Microsoft.Storage/storageAccounts@2025-06-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: { name: 'Standard_LRS' }
  properties: {
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: privateNetworking ? 'Disabled' : 'Enabled'
    networkAcls: {
      defaultAction: privateNetworking ? 'Deny' : 'Allow'
      bypass: 'None'
    }
  }

  resource blobs 'blobServices' = {
    name: 'default'

    resource package 'containers' = {
      name: packageContainer
      properties: { publicAccess: 'None' }
    }
  }
}

output id string = account.id
output name string = account.name
output packageContainerUrl string = '${account.properties.primaryEndpoints.blob}${packageContainer}'
