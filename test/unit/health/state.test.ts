/** When checks make an endpoint usable. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CheckOutcome,
  type EndpointHealth,
  isUsable,
  recordOutcome,
  UNKNOWN_HEALTH,
} from '../../../src/health/state.js';

const thresholds = { healthyThreshold: 2, unhealthyThreshold: 3 };
const outcome = (ok: boolean): CheckOutcome => ({ ok, detail: ok ? 'connected' : 'ECONNREFUSED', durationMs: 1 });

/** `+` a success, `-` a failure. */
function judged(script: string): EndpointHealth {
  return [...script].reduce((health, sign) => recordOutcome(health, outcome(sign === '+'), thresholds), UNKNOWN_HEALTH);
}

describe('an endpoint', () => {
  it.each([
    ['', 'unknown', true],
    ['+', 'healthy', true],
    ['-', 'unhealthy', false],
    ['+--', 'healthy', true],
    ['+---', 'unhealthy', false],
    ['+--+--', 'healthy', true],
    ['-+', 'unhealthy', false],
    ['-++', 'healthy', true],
    ['-+-+-+', 'unhealthy', false],
    ['+---++', 'healthy', true],
  ])('after "%s" is %s', (script, verdict, usable) => {
    const health = judged(script);
    expect(health.verdict).toBe(verdict);
    expect(isUsable(health)).toBe(usable);
  });

  it('counts its checks and failures', () => {
    expect(judged('+-+--')).toMatchObject({ checks: 5, failures: 3, streak: 2, last: { ok: false } });
  });

  it('changes its verdict only by a full row of outcomes of the other kind', () => {
    const script = fc.array(fc.constantFrom('+', '-'), { minLength: 2, maxLength: 40 }).map((signs) => signs.join(''));
    fc.assert(
      fc.property(script, (signs) => {
        const before = judged(signs.slice(0, -1));
        const now = judged(signs);
        if (before.verdict === now.verdict || before.verdict === 'unknown') return;
        const row = now.verdict === 'healthy' ? '+'.repeat(2) : '-'.repeat(3);
        expect(signs.endsWith(row)).toBe(true);
      }),
    );
  });
});
