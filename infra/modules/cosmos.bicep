// The account, its database and its containers: markers and documents, side by side.
param name string
param databaseName string
@description('Containers of shared/topology.json as key and value.')
param containers array
@description('0: serverless. Otherwise the upper end of the autoscale that all containers share.')
param maxThroughput int
param privateNetworking bool
param location string
param tags object

resource account 'Microsoft.DocumentDB/databaseAccounts@2025-04-15' = {
  name: name
  location: location
  tags: tags
  kind: 'GlobalDocumentDB'
  properties: {
    databaseAccountOfferType: 'Standard'
    // One region that takes writes: with two, both could accept the first copy of a message.
    enableMultipleWriteLocations: false
    locations: [
      {
        locationName: location
        failoverPriority: 0
      }
    ]
    // Session: a conflict hands over a token with which the next read sees at least what refused the commit.
    consistencyPolicy: { defaultConsistencyLevel: 'Session' }
    capabilities: maxThroughput == 0 ? [{ name: 'EnableServerless' }] : []
    disableLocalAuth: true
    disableKeyBasedMetadataWriteAccess: true
    minimalTlsVersion: 'Tls12'
    publicNetworkAccess: privateNetworking ? 'Disabled' : 'Enabled'
    // A restore to a point in time brings back a marker together with its documents: they share a container.
    backupPolicy: {
      type: 'Continuous'
      continuousModeProperties: { tier: 'Continuous7Days' }
    }
  }
}

resource database 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases@2025-04-15' = {
  parent: account
  name: databaseName
  properties: {
    resource: { id: databaseName }
    options: maxThroughput == 0 ? {} : { autoscaleSettings: { maxThroughput: maxThroughput } }
  }
}

resource container 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers@2025-04-15' = [for entry in containers: {
  parent: database
  name: entry.key
  properties: {
    resource: {
      id: entry.key
      partitionKey: {
        paths: [entry.value.partitionKeyPath]
        kind: 'Hash'
        version: 2
      }
      // On, without a default: markers bring their own time to live, documents stay.
      defaultTtl: -1
      // Queries ask for ids within a partition. Ids are always indexed, the partition key is not by itself ("Indexing
      // policies in Azure Cosmos DB"); every further path would be paid for with each write.
      indexingPolicy: {
        indexingMode: 'consistent'
        automatic: true
        includedPaths: [{ path: '${entry.value.partitionKeyPath}/?' }]
        excludedPaths: [{ path: '/*' }]
      }
    }
  }
}]

output id string = account.id
output name string = account.name
output endpoint string = account.properties.documentEndpoint
