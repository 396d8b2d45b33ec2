/**
 * Rules of our own kinds: BackendPolicy and WeirgateConfig. (Backend is complete by structure.)
 */
import { type BackendPolicy, durationMs, WEIRGATE_GROUP, type WeirgateConfig } from '../../gateway-api/index.js';
import { eachItem, eachRepeated, type Rule, type Violate } from './rule.js';

const MIN_INTERVAL_MS = 100;
const MIN_TIMEOUT_MS = 10;

function checkTargets(policy: BackendPolicy, violate: Violate): void {
  eachItem(policy.spec.targetRefs, 'spec.targetRefs', ({ group, kind, sectionName }, path) => {
    const isService = group === '' && kind === 'Service';
    const isBackend = group === WEIRGATE_GROUP && kind === 'Backend';
    if (!isService && !isBackend) {
      violate(
        path,
        `a BackendPolicy cannot be for ${kind} of group "${group}"`,
        `write group: "" with kind: Service, or group: ${WEIRGATE_GROUP} with kind: Backend`,
      );
    }
    if (isBackend && sectionName !== undefined) {
      violate(
        `${path}.sectionName`,
        'a Backend has no sections',
        'remove sectionName; for a Service it is the name of a port',
      );
    }
  });
}

function checkTargetsDistinct(policy: BackendPolicy, violate: Violate): void {
  eachRepeated(
    policy.spec.targetRefs,
    'spec.targetRefs',
    ({ group, kind, name, sectionName }) => `${group} ${kind} ${name} ${sectionName ?? ''}`,
    ({ kind, name }, path, firstPath) =>
      violate(path, `${kind} "${name}" is named twice`, `${firstPath} names it already`),
  );
}

function checkHealthTimes(policy: BackendPolicy, violate: Violate): void {
  const check = policy.spec.healthCheck;
  if (check === undefined) return;
  const path = 'spec.healthCheck';
  if (durationMs(check.interval) < MIN_INTERVAL_MS) {
    violate(`${path}.interval`, `interval ${check.interval} is too short`, `must be at least ${MIN_INTERVAL_MS}ms`);
  }
  if (durationMs(check.timeout) < MIN_TIMEOUT_MS) {
    violate(`${path}.timeout`, `timeout ${check.timeout} is too short`, `must be at least ${MIN_TIMEOUT_MS}ms`);
  }
}

function checkHealthHttp(policy: BackendPolicy, violate: Violate): void {
  const check = policy.spec.healthCheck;
  if (check?.http === undefined) return;
  const path = 'spec.healthCheck.http';
  if (check.type !== 'HTTP')
    violate(path, `http belongs to type HTTP, not ${check.type}`, 'remove it, or write type: HTTP');
  eachItem(check.http.expectedStatuses, `${path}.expectedStatuses`, ({ from, to }, rangePath) => {
    if (from > to) violate(rangePath, `no status lies between ${from} and ${to}`, 'from must not be above to');
  });
}

function checkPoolPrefixes(config: WeirgateConfig, violate: Violate): void {
  eachItem(config.spec.addressPool, 'spec.addressPool', (cidr, path) => {
    if (!cidr.endsWith('/0')) return;
    violate(path, `pool ${cidr} is every address there is`, 'name the networks whose addresses this host may use');
  });
}

/** The rules of BackendPolicy. */
export const BACKEND_POLICY_RULES: readonly Rule<BackendPolicy>[] = [
  { code: 'WG3601', says: 'a policy is for Services and Backends', check: checkTargets },
  { code: 'WG3602', says: 'no target is named twice', check: checkTargetsDistinct },
  { code: 'WG3603', says: 'checks leave time to answer', check: checkHealthTimes },
  { code: 'WG3604', says: 'http fits type HTTP and names statuses', check: checkHealthHttp },
];

/** The rules of WeirgateConfig. */
export const WEIRGATE_CONFIG_RULES: readonly Rule<WeirgateConfig>[] = [
  { code: 'WG3611', says: 'an address pool is a network of this host', check: checkPoolPrefixes },
];
