/**
 * Rules of GRPCRoute besides filters: number of matches, what a method match names.
 */
import type { GRPCRoute } from '../../gateway-api/index.js';
import { checkMatchCount } from './match-count.js';
import { eachItem, type Rule, type Violate } from './rule.js';

const SERVICE = /^\.?[a-z_][a-z_0-9]*(?:\.[a-z_][a-z_0-9]*)*$/i;
const METHOD = /^[A-Za-z_][A-Za-z_0-9]*$/;

function eachMethod(
  route: GRPCRoute,
  visit: (method: { readonly type: string; readonly service?: string; readonly method?: string }, path: string) => void,
): void {
  eachItem(route.spec.rules, 'spec.rules', (rule, rulePath) => {
    eachItem(rule.matches, `${rulePath}.matches`, ({ method }, path) => {
      if (method !== undefined) visit(method, `${path}.method`);
    });
  });
}

function checkNamed(route: GRPCRoute, violate: Violate): void {
  eachMethod(route, ({ service, method }, path) => {
    if (service !== undefined || method !== undefined) return;
    violate(path, 'a method match names neither service nor method', 'add service or method, or remove the match');
  });
}

function checkCharacters(route: GRPCRoute, violate: Violate): void {
  eachMethod(route, ({ type, service, method }, path) => {
    if (type !== 'Exact') return;
    if (service !== undefined && !SERVICE.test(service)) {
      violate(
        `${path}.service`,
        `"${service}" is no name of a service`,
        'write it as in the .proto file: package.Service',
      );
    }
    if (method !== undefined && !METHOD.test(method)) {
      violate(`${path}.method`, `"${method}" is no name of a method`, 'write it as in the .proto file');
    }
  });
}

/** The rules of GRPCRoute. */
export const GRPC_ROUTE_RULES: readonly Rule<GRPCRoute>[] = [
  { code: 'WG3311', says: 'a route has at most 128 matches', check: checkMatchCount },
  { code: 'WG3312', says: 'a method match names a service or a method', check: checkNamed },
  { code: 'WG3313', says: 'service and method have legal characters', check: checkCharacters },
];
