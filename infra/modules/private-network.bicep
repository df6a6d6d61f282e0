// The network between the app and its services, telemetry included: an endpoint for each service, the zones in which
// their names resolve to it, and a subnet for the app. What stays public is the app's own door: its health check, for
// anyone, and the deployment of its package, by token.
param networkName string
param scopeName string
param endpointPrefix string
param storageId string
param serviceBusId string
param eventHubsId string
param cosmosId string
param workspaceId string
param componentId string
param location string
param tags object

var addressSpace = '10.0.0.0/16'
// An instance takes an address: 40 for each of a few functions, and as many again while a deployment replaces them.
var appSubnet = '10.0.0.0/23'
var endpointSubnet = '10.0.2.0/27'

// Zones by service ("Azure Private Endpoint private DNS zone values"). Azure Monitor needs five of them.
var blobZone = 'privatelink.blob.${environment().suffixes.storage}'
var tableZone = 'privatelink.table.${environment().suffixes.storage}'
var brokerZone = 'privatelink.servicebus.windows.net'
var cosmosZone = 'privatelink.documents.azure.com'
var monitorZones = [
  'privatelink.monitor.azure.com'
  'privatelink.oms.opinsights.azure.com'
  'privatelink.ods.opinsights.azure.com'
  'privatelink.agentsvc.azure-automation.net'
]
var zoneNames = concat([blobZone, tableZone, brokerZone, cosmosZone], monitorZones)

var targets = [
  { name: 'blob', id: storageId, group: 'blob', zones: [blobZone] }
  { name: 'table', id: storageId, group: 'table', zones: [tableZone] }
  { name: 'service-bus', id: serviceBusId, group: 'namespace', zones: [brokerZone] }
  { name: 'event-hubs', id: eventHubsId, group: 'namespace', zones: [brokerZone] }
  { name: 'cosmos', id: cosmosId, group: 'Sql', zones: [cosmosZone] }
  { name: 'monitor', id: monitorScope.id, group: 'azuremonitor', zones: concat(monitorZones, [blobZone]) }
]

resource network 'Microsoft.Network/virtualNetworks@2024-05-01' = {
  name: networkName
  location: location
  tags: tags
  properties: {
    addressSpace: { addressPrefixes: [addressSpace] }
    subnets: [
      {
        name: 'app'
        properties: {
          addressPrefix: appSubnet
          delegations: [
            {
              name: 'flex-consumption'
              properties: { serviceName: 'Microsoft.App/environments' }
            }
          ]
        }
      }
      {
        name: 'endpoints'
        properties: { addressPrefix: endpointSubnet }
      }
    ]
  }

  resource app 'subnets' existing = {
    name: 'app'
  }

  resource endpoints 'subnets' existing = {
    name: 'endpoints'
  }
}

resource zone 'Microsoft.Network/privateDnsZones@2024-06-01' = [for zoneName in zoneNames: {
  name: zoneName
  location: 'global'
  tags: tags
}]

resource link 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [for (zoneName, index) in zoneNames: {
  parent: zone[index]
  name: networkName
  location: 'global'
  tags: tags
  properties: {
    registrationEnabled: false
    virtualNetwork: { id: network.id }
  }
}]

resource monitorScope 'Microsoft.Insights/privateLinkScopes@2021-07-01-preview' = {
  name: scopeName
  location: 'global'
  tags: tags
  properties: {
    accessModeSettings: {
      ingestionAccessMode: 'PrivateOnly'
      queryAccessMode: 'Open'
    }
  }

  resource workspace 'scopedResources' = {
    name: 'workspace'
    properties: { linkedResourceId: workspaceId }
  }

  resource component 'scopedResources' = {
    name: 'component'
    properties: { linkedResourceId: componentId }
  }
}

// One after the other: two endpoints made at once in one subnet are refused now and then.
@batchSize(1)
resource endpoint 'Microsoft.Network/privateEndpoints@2024-05-01' = [for target in targets: {
  name: '${endpointPrefix}-${target.name}'
  location: location
  tags: tags
  properties: {
    subnet: { id: network::endpoints.id }
    privateLinkServiceConnections: [
      {
        name: target.name
        properties: {
          privateLinkServiceId: target.id
          groupIds: [target.group]
        }
      }
    ]
  }
  dependsOn: [
    monitorScope::workspace
    monitorScope::component
  ]
}]

resource zoneGroup 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-05-01' = [for (target, index) in targets: {
  parent: endpoint[index]
  name: 'default'
  properties: {
    privateDnsZoneConfigs: [for zoneName in target.zones: {
      name: replace(zoneName, '.', '-')
      properties: { privateDnsZoneId: resourceId('Microsoft.Network/privateDnsZones', zoneName) }
    }]
  }
  dependsOn: [
    zone
    link
  ]
}]

output appSubnetId string = network::app.id
