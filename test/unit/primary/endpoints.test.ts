/** Endpoint sets in shared memory follow configuration and health. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CompiledEndpointSet } from '../../../src/compile/compile.js';
import type { CheckOutcome } from '../../../src/health/state.js';
import type { IrHealthCheck } from '../../../src/ir/ir.js';
import { ENDPOINT_BLOCK } from '../../../src/native/layout.gen.js';
import { Endpoints } from '../../../src/primary/endpoints.js';

const CHECK: IrHealthCheck = {
  type: 'tcp',
  intervalMs: 1_000,
  timeoutMs: 500,
  healthyThreshold: 1,
  unhealthyThreshold: 1,
  path: '/',
  host: '',
  expectedStatuses: [],
};

const set = (
  id: number,
  ports: readonly number[],
  healthCheck: IrHealthCheck | undefined = CHECK,
): CompiledEndpointSet => ({
  id,
  key: `Backend/default/b${id}`,
  slot: 100 + id,
  endpoints: ports.map((port) => ({ ip: '127.0.0.1', port, weight: 1, slot: port })),
  healthCheck,
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function rig(): {
  readonly endpoints: Endpoints;
  readonly written: string[];
  readonly down: Set<number>;
  readonly told: string[];
} {
  const written: string[] = [];
  const down = new Set<number>();
  const told: string[] = [];
  const endpoints = new Endpoints(
    {
      setEndpointSet: (id, block) => {
        const view = new DataView(block.buffer, block.byteOffset);
        const [all, usable] = [ENDPOINT_BLOCK.endpoints, ENDPOINT_BLOCK.sequence].map((at) => view.getUint32(at, true));
        written.push(`${id}: ${usable} of ${all}`);
      },
      dropEndpointSet: (id) => void written.push(`${id} dropped`),
    },
    ({ address, health }) => told.push(`${address} ${health?.verdict}`),
    {
      random: () => 0.5,
      run: async ({ port }): Promise<CheckOutcome> => ({ ok: !down.has(port), detail: 'x', durationMs: 1 }),
    },
  );
  return { endpoints, written, down, told };
}

describe('endpoint sets', () => {
  it('are written with all endpoints usable before anything is known', () => {
    const { endpoints, written } = rig();
    endpoints.apply([set(1, [80, 81])]);
    expect(written).toEqual(['1: 2 of 2']);
  });

  it('are written anew, and alone, when one of their endpoints fails or returns', async () => {
    const { endpoints, written, down, told } = rig();
    endpoints.apply([set(1, [80, 81]), set(2, [90])]);
    written.length = 0;
    down.add(81);
    await vi.advanceTimersByTimeAsync(600);
    expect(written).toEqual(['1: 1 of 2']);
    expect(told).toEqual(['127.0.0.1:81 unhealthy']);
    down.clear();
    await vi.advanceTimersByTimeAsync(1_500);
    expect(written).toEqual(['1: 1 of 2', '1: 2 of 2']);
  });

  it('keep what is known of endpoints that stay when the set changes', async () => {
    const { endpoints, written, down } = rig();
    down.add(81);
    endpoints.apply([set(1, [80, 81])]);
    await vi.advanceTimersByTimeAsync(600);
    written.length = 0;
    endpoints.apply([set(1, [80, 81, 82])]);
    expect(written).toEqual(['1: 2 of 3']);
    expect(endpoints.overview(10)).toEqual({
      total: 3,
      unusable: [{ cluster: 'Backend/default/b1', address: '127.0.0.1:81', detail: 'x' }],
    });
  });

  it('that nobody names any more are dropped, and no longer checked', async () => {
    const { endpoints, written, told, down } = rig();
    endpoints.apply([set(1, [80])]);
    endpoints.drop([1, 7]);
    down.add(80);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(written).toEqual(['1: 1 of 1', '1 dropped']);
    expect(told).toEqual([]);
  });

  it('without a check are passive: nothing is probed', async () => {
    const { endpoints, down, told } = rig();
    down.add(80);
    endpoints.apply([{ ...set(1, [80]), healthCheck: undefined }]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(told).toEqual([]);
    expect([...endpoints.views()]).toMatchObject([{ address: '127.0.0.1:80', health: undefined }]);
  });
});
