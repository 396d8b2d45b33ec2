/**
 * Rules of session persistence, of HTTPRoute and GRPCRoute alike.
 */
import type { GRPCRoute, GRPCRouteRule, HTTPRoute, HTTPRouteRule } from '../../gateway-api/index.js';
import { eachItem, type Rule, type Violate } from './rule.js';

function checkSessions(route: HTTPRoute | GRPCRoute, violate: Violate): void {
  eachItem<HTTPRouteRule | GRPCRouteRule>(route.spec.rules, 'spec.rules', ({ sessionPersistence }, rulePath) => {
    if (sessionPersistence === undefined) return;
    const path = `${rulePath}.sessionPersistence`;
    const { type, cookie, header, absoluteTimeout } = sessionPersistence;
    for (const [wanted, field, value] of [
      ['Cookie', 'cookie', cookie],
      ['Header', 'header', header],
    ] as const) {
      if ((value !== undefined) === (type === wanted)) continue;
      if (value === undefined) violate(`${path}.${field}`, `type ${type} needs the field ${field}`, `add ${field}`);
      else violate(`${path}.${field}`, `${field} belongs to type ${wanted}`, `remove it, or write type: ${wanted}`);
    }
    if (cookie?.lifetimeType === 'Permanent' && absoluteTimeout === undefined) {
      violate(
        `${path}.absoluteTimeout`,
        'a permanent cookie needs absoluteTimeout',
        'add absoluteTimeout, or write lifetimeType: Session',
      );
    }
  });
}

/** The rules of session persistence. */
export const SESSION_RULES: readonly Rule<HTTPRoute | GRPCRoute>[] = [
  { code: 'WG3304', says: 'session persistence has the field of its type', check: checkSessions },
];
