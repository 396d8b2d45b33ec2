/** When checks run and what is told of them; time is vitest's. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Prober, type ProberOptions, type ProbeTarget } from '../../../src/health/prober.js';
import type { CheckOutcome } from '../../../src/health/state.js';
import type { IrHealthCheck } from '../../../src/ir/ir.js';

const CHECK: IrHealthCheck = {
  type: 'tcp',
  intervalMs: 10_000,
  timeoutMs: 1_000,
  healthyThreshold: 2,
  unhealthyThreshold: 2,
  path: '/',
  host: '',
  expectedStatuses: [],
};
const target = (key: string, check: IrHealthCheck = CHECK): ProbeTarget => ({ key, ip: '127.0.0.1', port: 80, check });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function rig(options: Partial<ProberOptions> = {}): {
  readonly prober: Prober;
  readonly down: Set<string>;
  readonly checks: string[];
  readonly changes: string[];
} {
  const down = new Set<string>();
  const checks: string[] = [];
  const changes: string[] = [];
  const prober = new Prober({
    onChange: (key, { verdict }) => changes.push(`${key} ${verdict}`),
    run: async (probe): Promise<CheckOutcome> => {
      const { key } = probe as ProbeTarget;
      checks.push(key);
      return { ok: !down.has(key), detail: '', durationMs: 1 };
    },
    random: () => 0.5,
    ...options,
  });
  return { prober, down, checks, changes };
}

describe('the prober', () => {
  it('checks a new endpoint within half a second, then once an interval', async () => {
    const { prober, checks } = rig();
    prober.replace([target('a')]);
    await vi.advanceTimersByTimeAsync(500);
    expect(checks).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(checks).toHaveLength(4);
  });

  it('tells of an endpoint that is down after its first check, and of its return after a row of good ones', async () => {
    const { prober, down, changes } = rig();
    down.add('a');
    prober.replace([target('a'), target('b')]);
    await vi.advanceTimersByTimeAsync(500);
    expect(changes).toEqual(['a unhealthy']);
    down.clear();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(changes).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(changes).toEqual(['a unhealthy', 'a healthy']);
  });

  it('keeps results over a reload, also when the check itself changes', async () => {
    const { prober, down, checks } = rig();
    down.add('a');
    prober.replace([target('a')]);
    await vi.advanceTimersByTimeAsync(500);
    prober.replace([target('a'), target('b')]);
    expect(prober.health('a').verdict).toBe('unhealthy');
    checks.length = 0;
    prober.replace([target('a', { ...CHECK, intervalMs: 20_000 })]);
    expect(prober.health('a').verdict).toBe('unhealthy');
    await vi.advanceTimersByTimeAsync(500);
    expect(checks).toEqual(['a']);
  });

  it('forgets endpoints that are gone, and the outcome of a check under way', async () => {
    let finish: (outcome: CheckOutcome) => void = () => {};
    const { prober, changes } = rig({ run: () => new Promise((resolve) => (finish = resolve)) });
    prober.replace([target('a')]);
    await vi.advanceTimersByTimeAsync(500);
    prober.replace([]);
    finish({ ok: false, detail: '', durationMs: 1 });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(changes).toEqual([]);
    expect(prober.health('a').verdict).toBe('unknown');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('runs no more than its limit at once, and gets to all', async () => {
    let running = 0;
    let most = 0;
    const seen = new Set<string>();
    const { prober } = rig({
      concurrency: 3,
      run: async (probe) => {
        seen.add((probe as ProbeTarget).key);
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 100));
        running -= 1;
        return { ok: true, detail: '', durationMs: 100 };
      },
    });
    prober.replace(Array.from({ length: 20 }, (_, i) => target(`e${i}`)));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(most).toBe(3);
    expect(seen.size).toBe(20);
  });

  it('never checks one endpoint twice at a time, however slow it is', async () => {
    let running = 0;
    const { prober } = rig({
      run: async () => {
        expect(++running).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 15_000));
        running -= 1;
        return { ok: true, detail: '', durationMs: 15_000 };
      },
    });
    prober.replace([target('a')]);
    await vi.advanceTimersByTimeAsync(1_000);
    prober.replace([target('a', { ...CHECK, intervalMs: 1_000 })]);
    await vi.advanceTimersByTimeAsync(60_000);
    prober.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(running).toBe(0);
  });

  it('does not let checks that began together stay together', async () => {
    const starts: number[] = [];
    const random = [0.1, 0.9];
    let turn = 0;
    const { prober } = rig({
      random: () => random[turn++ % 2] as number,
      run: async () => {
        starts.push(Date.now());
        return { ok: true, detail: '', durationMs: 0 };
      },
    });
    prober.replace([target('a'), target('b')]);
    await vi.advanceTimersByTimeAsync(11_500);
    expect(new Set(starts.map((at) => Math.round(at / 50))).size).toBe(starts.length);
  });
});
