/**
 * Two judges agree: the oracle over the IR and the native matcher over the compiled table, on random IRs and requests.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compile, SlotBook } from '../../src/compile/compile.js';
import { dumpTable } from '../../src/compile/dump.js';
import { explainRequest } from '../../src/explain/explain.js';
import * as addon from '../../src/native/addon.js';
import { arbitraryCase, arbitraryIr } from '../support/ir-arbitrary.js';

// The seed is printed by fast-check when a case fails; WEIRGATE_SEED repeats it.
const SEED = Number(process.env.WEIRGATE_SEED ?? Date.now() % 2 ** 31);
/** Each run asks at least 20 requests: 100,000 in all. */
const RUNS = Number(process.env.WEIRGATE_RUNS ?? 5000);
const PRINTED = Math.min(RUNS, 400);

it(`every request is routed as the oracle says (seed ${SEED})`, () => {
  let routed = 0;
  fc.assert(
    fc.property(arbitraryCase, ([ir, requests]) => {
      const { table, sockets } = compile(ir, new SlotBook(), 1);
      expect(addon.checkTable(table)).toBeNull();
      for (const request of requests) {
        const decision = explainRequest(ir, ir.sockets[0]!, request);
        const native = addon.routeTable(table, sockets[0]!.id, request);
        if (decision.kind === 'action') routed += 1;
        expect({ request, ...pick(native) }).toEqual({ request, ...pick(decision) });
      }
    }),
    { seed: SEED, numRuns: RUNS },
  );
  // The alphabets are chosen so that requests meet routes; a generator that misses them all would prove nothing.
  expect(routed).toBeGreaterThan(RUNS);
});

it(`every table prints alike on both sides (seed ${SEED})`, () => {
  fc.assert(
    fc.property(arbitraryIr, (ir) => {
      const { table } = compile(ir, new SlotBook(), 7);
      expect(addon.dumpTable(table)).toBe(dumpTable(table));
    }),
    { seed: SEED, numRuns: PRINTED },
  );
});

function pick(decision: { kind: string; listener?: string; action?: string }): object {
  return { kind: decision.kind, listener: decision.listener, action: decision.action };
}
