/**
 * Rules of session persistence, of HTTPRoute and GRPCRoute alike.
 */
import type { GRPCRoute, GRPCRouteRule, HTTPRoute, HTTPRouteRule } from '../../gateway-api/index.js';
import { eachItem, eachMisplacedField, type Rule, type Violate } from './rule.js';

const FIELDS = [
  ['Cookie', 'cookie'],
  ['Header', 'header'],
] as const;

function checkSessions(route: HTTPRoute | GRPCRoute, violate: Violate): void {
  eachItem<HTTPRouteRule | GRPCRouteRule>(route.spec.rules, 'spec.rules', ({ sessionPersistence }, rulePath) => {
    if (sessionPersistence === undefined) return;
    const path = `${rulePath}.sessionPersistence`;
    const { cookie, absoluteTimeout } = sessionPersistence;
    eachMisplacedField(sessionPersistence, sessionPersistence.type, FIELDS, (type, field, isPresent) => {
      const at = `${path}.${field}`;
      if (isPresent) violate(at, `${field} belongs to type ${type}`, `remove it, or write type: ${type}`);
      else violate(at, `type ${type} needs the field ${field}`, `add ${field}`);
    });
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
