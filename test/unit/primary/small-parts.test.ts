/** What systemd is told, what a reload leaves behind. */
import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../src/base/index.js';
import { describeLowLimit } from '../../../src/primary/descriptor-limit.js';
import { Notifier, watchdogIntervalMs } from '../../../src/primary/notifier.js';
import { ReloadHistory } from '../../../src/primary/reload-history.js';

describe('the service manager', () => {
  it('is told of a reload with its time, of readiness and of the stop', () => {
    const told: string[] = [];
    const notifier = new Notifier(
      (state) => told.push(state),
      () => 42n,
    );
    notifier.reloading();
    notifier.ready('generation 2');
    notifier.stopping('draining');
    notifier.extend();
    notifier.watchdog();
    expect(told).toEqual([
      'RELOADING=1\nMONOTONIC_USEC=42',
      'READY=1\nSTATUS=generation 2',
      'STOPPING=1\nSTATUS=draining',
      'EXTEND_TIMEOUT_USEC=5000000',
      'WATCHDOG=1',
    ]);
  });

  it.each([
    [{}, 0],
    [{ WATCHDOG_USEC: '30000000' }, 15_000],
    [{ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' }, 15_000],
    [{ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '8' }, 0],
    [{ WATCHDOG_USEC: 'x' }, 0],
  ])('with %j is fed every %i ms', (env, intervalMs) => {
    expect(watchdogIntervalMs(env, 7)).toBe(intervalMs);
  });
});

describe('the history of reloads', () => {
  const diagnostic = (severity: Diagnostic['severity']): Diagnostic => ({
    severity,
    code: 'WG1001',
    object: '',
    path: '',
    message: '',
    hint: '',
    span: { file: 'a.yaml', line: 1, column: 1 },
  });

  it('remembers the last good time over refusals, and counts outcomes', () => {
    const history = new ReloadHistory();
    const add = (outcome: 'programmed' | 'refused', at: string, diagnostics: readonly Diagnostic[] = []): void =>
      history.add({ outcome, generation: 1, changes: [], diagnostics, message: '' }, new Date(at));
    add('programmed', '2026-12-01T00:00:00Z');
    add('refused', '2026-12-01T01:00:00Z', [
      ...Array.from({ length: 300 }, () => diagnostic('warning')),
      diagnostic('error'),
    ]);
    expect(history.last).toMatchObject({ outcome: 'refused', succeededAt: '2026-12-01T00:00:00.000Z' });
    expect(history.last.diagnostics).toHaveLength(200);
    expect(history.last.diagnostics[0]?.severity).toBe('error');
    expect(history.metrics()).toEqual({
      reloadSucceeded: false,
      reloadSucceededAt: Date.parse('2026-12-01T00:00:00Z') / 1000,
      reloads: { programmed: 1, unchanged: 0, refused: 1 },
    });
  });
});

describe('a limit of open files', () => {
  it('that is low is named with what it means and how to raise it', () => {
    expect(describeLowLimit(1_048_576)).toBeUndefined();
    expect(describeLowLimit(300)).toMatch(
      /^the limit of 300 open files is low: .* about 80 connections; raise LimitNOFILE=/,
    );
  });
});
