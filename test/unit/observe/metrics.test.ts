/** Slots over generations, and the families made of them. */
import { describe, expect, it } from 'vitest';
import { CELL, COUNTER_CELLS } from '../../../src/native/counters.gen.js';
import { listFamilies, type MetricsSource } from '../../../src/observe/metrics.js';
import { formatFamilies } from '../../../src/observe/openmetrics.js';
import { type SlotNames, SlotRegistry } from '../../../src/observe/slot-registry.js';

const CELLS = 16;

const names = (parts: Partial<SlotNames>): SlotNames => ({ listeners: [], actions: [], endpoints: [], ...parts });
const nothing = (): Float64Array => new Float64Array(CELLS);

function source(registry: SlotRegistry, cells: Float64Array): MetricsSource {
  return {
    registry,
    counters: {
      readSlots: (from, count) => cells.slice(from * CELLS, (from + count) * CELLS),
      readGauges: (_, count) => new Float64Array(count),
      readHeads: () => [{ column: 0, cells: new Float64Array(512).fill(2) }],
    },
    workers: [{ column: 0, connections: 3, requestsInFlight: 1, generation: 7, paused: false, heartbeatAgeMs: 250 }],
    endpoints: [
      {
        cluster: 'Service/default/web:80',
        address: '10.0.0.1:80',
        usable: false,
        checks: { good: 4, bad: 2, lastMs: 5 },
      },
    ],
    version: '1.2.3',
    layoutHash: 'abc',
    generation: 7,
    reloadSucceeded: false,
    reloadSucceededAt: 12,
    reloads: { programmed: 6, refused: 1 },
    faults: 1,
    workersWanted: 1,
    workerRestarts: 0,
    accessLog: { lines: 0, lost: 0 },
    process: { cpuSeconds: 1, residentBytes: 2, startedAt: 3 },
  };
}

const expose = (registry: SlotRegistry, cells: Float64Array): string[] =>
  [...formatFamilies(listFamilies(source(registry, cells)))].join('').split('\n');

/** Cells of `slots` slots; `set(slot, cell, value)`. */
function memory(slots: number, ...set: (readonly [number, number, number])[]): Float64Array {
  const cells = new Float64Array(slots * CELLS);
  for (const [slot, cell, value] of set) cells[slot * CELLS + cell] = value;
  return cells;
}

describe('metrics', () => {
  it('tell listeners, rules and endpoints apart by labels, in base units', () => {
    const registry = new SlotRegistry();
    registry.update(
      names({
        listeners: [{ slot: 1, name: 'default/edge/http' }],
        actions: [{ slot: 2, name: 'HTTPRoute/default/web/3' }],
        endpoints: [{ slot: 3, cluster: 'Service/default/web:80', address: '10.0.0.1:80' }],
      }),
      nothing,
    );
    const lines = expose(
      registry,
      memory(4, [1, CELL.listener.requests, 5], [2, CELL.action.durationUs, 1_500_000], [3, CELL.endpoint.connects, 9]),
    );
    expect(lines).toContain('weirgate_listener_requests_total{listener="default/edge/http"} 5');
    expect(lines).toContain('weirgate_route_duration_seconds_total{route="HTTPRoute/default/web",rule="3"} 1.5');
    expect(lines).toContain(
      'weirgate_endpoint_connects_total{cluster="Service/default/web:80",endpoint="10.0.0.1:80"} 9',
    );
    expect(lines).toContain('weirgate_endpoint_up{cluster="Service/default/web:80",endpoint="10.0.0.1:80"} 0');
    expect(lines).toContain('weirgate_config_last_reload_successful 0');
    expect(lines).toContain('weirgate_worker_heartbeat_age_seconds{worker="0"} 0.25');
  });

  it('have each family once, in one piece, with a help text', () => {
    const registry = new SlotRegistry();
    registry.update(names({ actions: [{ slot: 1, name: 'HTTPRoute/a/b/0' }] }), nothing);
    const lines = expose(registry, memory(2));
    const types = lines.filter((line) => line.startsWith('# TYPE ')).map((line) => line.split(' ')[2]);
    expect(new Set(types).size).toBe(types.length);
    const samples = lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split(/[ {]/)[0]);
    const families = samples.filter((name, i) => name !== samples[i - 1]);
    expect(new Set(families).size).toBe(families.length);
    for (const kind of Object.values(COUNTER_CELLS)) for (const cell of kind) expect(cell.help).not.toBe('');
  });

  it('go on counting for an object that was removed', () => {
    const registry = new SlotRegistry();
    registry.update(names({ listeners: [{ slot: 1, name: 'a/b/c' }] }), nothing);
    registry.update(names({}), nothing);
    const lines = expose(registry, memory(2, [1, CELL.listener.requests, 5]));
    expect(lines).toContain('weirgate_listener_requests_total{listener="a/b/c"} 5');
  });

  it('begin at nothing for another object that gets a used slot', () => {
    const registry = new SlotRegistry();
    registry.update(names({ listeners: [{ slot: 1, name: 'old' }] }), nothing);
    const cells = memory(2, [1, CELL.listener.requests, 5]);
    registry.update(names({ listeners: [{ slot: 1, name: 'new' }] }), () => cells.slice(CELLS));
    cells[CELLS + CELL.listener.requests] = 7;
    const lines = expose(registry, cells);
    expect(lines).toContain('weirgate_listener_requests_total{listener="new"} 2');
    expect(lines.join('\n')).not.toContain('listener="old"');
  });

  it('leave out what never counted once there are too many of a kind', () => {
    const registry = new SlotRegistry();
    const actions = Array.from({ length: 1_500 }, (_, i) => ({ slot: i + 1, name: `HTTPRoute/default/r${i}/0` }));
    registry.update(names({ actions }), nothing);
    const lines = expose(registry, memory(1_501, [9, CELL.action.requests, 1]));
    expect(lines.filter((line) => line.startsWith('weirgate_route_requests_total'))).toEqual([
      'weirgate_route_requests_total{route="HTTPRoute/default/r8",rule="0"} 1',
    ]);
  });
});
