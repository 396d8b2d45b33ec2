/**
 * Which kind a document is of: ours, a relative that this release does not serve, a retired one, a mistyped one, or foreign.
 */
import { apiVersionOf, GATEWAY_GROUP, KINDS, type KindDefinition, WEIRGATE_GROUP } from '../gateway-api/index.js';
import type { Remark } from './report.js';
import { nearestWord } from './suggest.js';

/** The kind, or what to say about an object that is not read; either may come with a warning. */
export type Identity =
  | { readonly known: true; readonly definition: KindDefinition; readonly warning: Remark | undefined }
  | { readonly known: false; readonly remark: Remark; readonly field: 'apiVersion' | 'kind' };

const X_GROUP = 'gateway.networking.x-k8s.io';
const OUR_GROUPS: readonly string[] = [GATEWAY_GROUP, WEIRGATE_GROUP];

/** Former homes of kinds: what to say instead of "unknown". Keys are `group/Kind`. */
const RETIRED: Readonly<Record<string, string>> = {
  'extensions/Ingress': `write an HTTPRoute (${GATEWAY_GROUP}/v1) in its place`,
  'networking.x-k8s.io/Gateway': `change apiVersion to ${GATEWAY_GROUP}/v1`,
  'networking.x-k8s.io/GatewayClass': `change apiVersion to ${GATEWAY_GROUP}/v1`,
  'networking.x-k8s.io/HTTPRoute': `change apiVersion to ${GATEWAY_GROUP}/v1`,
  'networking.x-k8s.io/TCPRoute': `change apiVersion to ${GATEWAY_GROUP}/v1`,
  'networking.x-k8s.io/TLSRoute': `change apiVersion to ${GATEWAY_GROUP}/v1`,
  'networking.x-k8s.io/UDPRoute': `change apiVersion to ${GATEWAY_GROUP}/v1`,
  'networking.x-k8s.io/BackendPolicy': `write a BackendTLSPolicy (${GATEWAY_GROUP}/v1) in its place`,
  [`${X_GROUP}/XListenerSet`]: `it became ListenerSet: change kind and apiVersion (${GATEWAY_GROUP}/v1)`,
  [`${GATEWAY_GROUP}/ReferencePolicy`]: `it became ReferenceGrant (${GATEWAY_GROUP}/v1)`,
  [`${GATEWAY_GROUP}/BackendLBPolicy`]: 'write sessionPersistence into the rules of the routes',
};

/** Foreign kinds that a reader of this folder may expect to work. Keys are `group/Kind`. */
const RELATIVES: Readonly<Record<string, string>> = {
  '/Endpoints': 'write an EndpointSlice (discovery.k8s.io/v1) or a Backend (weirgate.dev/v1alpha1)',
  [`${X_GROUP}/XBackend`]: 'write a Backend (weirgate.dev/v1alpha1) with the addresses',
  [`${X_GROUP}/XBackendTrafficPolicy`]: 'write retry and sessionPersistence into the rules of the routes',
  [`${X_GROUP}/XMesh`]: 'Weirgate is no service mesh',
  'networking.k8s.io/Ingress': `write an HTTPRoute (${GATEWAY_GROUP}/v1) in its place`,
};

/** Returns what the object with this apiVersion and kind is. */
export function identify(apiVersion: string, kind: string): Identity {
  const slash = apiVersion.lastIndexOf('/');
  const group = slash === -1 ? '' : apiVersion.slice(0, slash);
  const version = apiVersion.slice(slash + 1);
  const definition = KINDS.find((candidate) => candidate.group === group && candidate.kind === kind);
  if (definition !== undefined) return judgeVersion(definition, version);
  const retired = RETIRED[`${group}/${kind}`];
  if (retired !== undefined) {
    const remark = { code: 'WG2004', message: `${kind} of ${apiVersion} is retired`, hint: retired } as const;
    return { known: false, field: 'apiVersion', remark };
  }
  const relocated = misplaced(group, apiVersion, kind);
  if (relocated !== undefined) return relocated;
  if (OUR_GROUPS.includes(group)) return unknownKind(group, kind);
  return foreign(group, apiVersion, kind);
}

function judgeVersion(definition: KindDefinition, version: string): Identity {
  const right = apiVersionOf(definition);
  const { kind, group, otherVersions, deprecatedVersions } = definition;
  if (version !== definition.version && !otherVersions.includes(version)) {
    const written = group === '' ? version : `${group}/${version}`;
    const retired = /^v\d+(?:alpha|beta)\d+$/.test(version);
    const message = `${kind} is not served as ${written}${retired ? ': this version is retired' : ''}`;
    return {
      known: false,
      field: 'apiVersion',
      remark: { code: 'WG2004', message, hint: `write apiVersion: ${right}` },
    };
  }
  if (!deprecatedVersions.includes(version)) return { known: true, definition, warning: undefined };
  const message = `${kind} ${version} is deprecated; it is read as ${definition.version}`;
  const warning = { code: 'WG2007', severity: 'warning', message, hint: `write apiVersion: ${right}` } as const;
  return { known: true, definition, warning };
}

/** A kind of ours under a group that is core, or looks like a slip of the pen. */
function misplaced(group: string, apiVersion: string, kind: string): Identity | undefined {
  const near = KINDS.find((candidate) => candidate.kind === kind);
  if (near === undefined || near.group === group) return undefined;
  const slip = group === '' || nearestWord(group, [near.group]) !== undefined || OUR_GROUPS.includes(group);
  if (!slip) return undefined;
  const message = `there is no ${kind} in ${apiVersion}`;
  return {
    known: false,
    field: 'apiVersion',
    remark: { code: 'WG2003', message, hint: `did you mean apiVersion: ${apiVersionOf(near)}?` },
  };
}

function unknownKind(group: string, kind: string): Identity {
  const kinds = KINDS.filter((candidate) => candidate.group === group).map((candidate) => candidate.kind);
  const near = nearestWord(kind, kinds);
  const hint = near === undefined ? `kinds of ${group} are ${kinds.join(', ')}` : `did you mean "${near}"?`;
  return { known: false, field: 'kind', remark: { code: 'WG2003', message: `unknown kind "${kind}"`, hint } };
}

function foreign(group: string, apiVersion: string, kind: string): Identity {
  // A core or discovery object is mistyped more often than it is foreign.
  const siblings = KINDS.filter((candidate) => candidate.group === group).map((candidate) => candidate.kind);
  const near = nearestWord(kind, siblings);
  const slip = near === undefined ? 'keep it in another folder to silence this' : `did you mean "${near}"?`;
  const hint = RELATIVES[`${group}/${kind}`] ?? slip;
  const message = `${kind} of ${apiVersion} is none of Weirgate's kinds; the object is ignored`;
  return { known: false, field: 'kind', remark: { code: 'WG2005', severity: 'warning', message, hint } };
}
