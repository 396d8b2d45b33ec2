/**
 * The codes of all findings. A code is never given a second meaning; see `DiagnosticCode`.
 */
import type { DiagnosticCode } from '../base/index.js';

export const CODES = {
  // Classes, parameters and settings.
  classParameters: 'WG4001',
  classNotFound: 'WG4002',
  classNotAccepted: 'WG4003',
  gatewayParameters: 'WG4004',
  settingsIgnored: 'WG4005',
  configUnused: 'WG4006',
  notServedYet: 'WG4007',
  infrastructureIdle: 'WG4008',
  // Addresses.
  addressUnsupported: 'WG4010',
  addressNotUsable: 'WG4011',
  addressNotAssigned: 'WG4012',
  routabilityUnsupported: 'WG4013',
  addressesAssigned: 'WG4014',
  // Listeners.
  protocolUnsupported: 'WG4020',
  listenersConflict: 'WG4021',
  portUnavailable: 'WG4022',
  routeKindsInvalid: 'WG4023',
  listenerWithoutRoutes: 'WG4024',
  listenersNotValid: 'WG4025',
  gatewayNotProgrammed: 'WG4026',
  tlsModeUnsupported: 'WG4027',
  defaultGateway: 'WG4028',
  selectorInvalid: 'WG4029',
  // ListenerSets.
  setParentNotFound: 'WG4070',
  setParentKindUnknown: 'WG4071',
  setNotAllowed: 'WG4072',
  setParentRefused: 'WG4073',
  setListenerConflict: 'WG4074',
  // Attachment of routes.
  parentNotFound: 'WG4030',
  parentKindUnknown: 'WG4031',
  noMatchingParent: 'WG4032',
  notAllowedByListeners: 'WG4033',
  noMatchingHostname: 'WG4034',
  routeWithoutParent: 'WG4035',
  // Rules and matches.
  ruleDropped: 'WG4040',
  matchShadowed: 'WG4041',
  routeIdle: 'WG4042',
  ruleWithoutBackend: 'WG4043',
  patternInvalid: 'WG4044',
  filtersIncompatible: 'WG4045',
  headerActionInvalid: 'WG4046',
  pathChangeInvalid: 'WG4047',
  extensionUnknown: 'WG4048',
  routeWithoutRules: 'WG4049',
  sessionInvalid: 'WG4058',
  redirectLoop: 'WG4059',
  // Backends.
  backendKindInvalid: 'WG4050',
  backendNotFound: 'WG4051',
  referenceNotPermitted: 'WG4052',
  backendProtocol: 'WG4053',
  backendWithoutEndpoints: 'WG4054',
  endpointIgnored: 'WG4055',
  grantUnused: 'WG4056',
  // Policies.
  policyTargetNotFound: 'WG4060',
  policyConflicted: 'WG4061',
  policyInvalid: 'WG4062',
  policyAncestorsFull: 'WG4063',
  // TLS of listeners.
  certificateInvalid: 'WG4080',
  certificateMissing: 'WG4081',
  tlsOptionUnsupported: 'WG4082',
  tlsOptionIgnored: 'WG4083',
  clientAuthorityInvalid: 'WG4084',
  clientValidation: 'WG4085',
  tlsOverlap: 'WG4086',
  certificateNarrow: 'WG4087',
  certificateUnused: 'WG4088',
  certificateLifetime: 'WG4089',
  // TLS towards backends.
  clientCertificate: 'WG4090',
  backendAuthorityInvalid: 'WG4091',
  backendTlsUnsupported: 'WG4092',
} as const satisfies Readonly<Record<string, DiagnosticCode>>;
