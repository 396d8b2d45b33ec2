/** The reload machine: storms, refusals, and who is told what. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BuildOutcome, type ReloadCommand, ReloadMachine } from '../../../src/primary/reload.js';

const outcome = (kind: BuildOutcome['outcome']): BuildOutcome => ({
  outcome: kind,
  changes: [],
  diagnostics: [],
  message: '',
});

/** Short forms, so that a test reads as a dialogue. */
function shorten(commands: readonly ReloadCommand[]): string[] {
  return commands.map((command) => {
    if (command.kind !== 'settle') return `${command.kind} ${command.generation}`;
    return `settle [${command.tickets}] ${command.result.outcome} ${command.result.generation}`;
  });
}

function dialogue(): {
  readonly machine: ReloadMachine;
  readonly request: (ticket?: number) => string[];
  readonly built: (kind: BuildOutcome['outcome']) => string[];
  readonly programmed: (message?: string) => string[];
  readonly failed: (message: string) => string[];
} {
  const machine = new ReloadMachine();
  return {
    machine,
    request: (ticket) => shorten(machine.handle({ kind: 'requested', ...(ticket === undefined ? {} : { ticket }) })),
    built: (kind) => shorten(machine.handle({ kind: 'built', outcome: outcome(kind) })),
    programmed: (message = '') => shorten(machine.handle({ kind: 'programmed', message })),
    failed: (message) => shorten(machine.handle({ kind: 'failed', message })),
  };
}

describe('a reload', () => {
  it('loads, programs and tells who waits', () => {
    const { request, built, programmed, machine } = dialogue();
    expect(request(7)).toEqual(['load 1']);
    expect(built('changed')).toEqual(['program 1']);
    expect(machine.generation).toBe(0);
    expect(programmed()).toEqual(['settle [7] programmed 1']);
    expect(machine.generation).toBe(1);
  });

  it('leaves the generation alone when only endpoints differ', () => {
    const { request, built, programmed } = dialogue();
    request();
    built('changed');
    programmed();
    expect(request(1)).toEqual(['load 2']);
    expect(built('updated')).toEqual(['program 1']);
    expect(programmed()).toEqual(['settle [1] programmed 1']);
    expect(request(2)).toEqual(['load 2']);
  });

  it('wakes nobody for files that say the same', () => {
    const { request, built, programmed } = dialogue();
    request();
    built('changed');
    programmed();
    request(3);
    expect(built('unchanged')).toEqual(['settle [3] unchanged 1']);
  });

  it('that is refused leaves the old generation, and the next good one works', () => {
    const { request, built, programmed } = dialogue();
    request();
    built('changed');
    programmed();
    request(1);
    expect(built('refused')).toEqual(['settle [1] refused 1']);
    expect(request(2)).toEqual(['load 2']);
    expect(built('changed')).toEqual(['program 2']);
    expect(programmed()).toEqual(['settle [2] programmed 2']);
  });

  it('whose table no worker takes is refused with the reason, and its number is not used again', () => {
    const { machine } = dialogue();
    machine.handle({ kind: 'requested', ticket: 1 });
    machine.handle({ kind: 'built', outcome: outcome('changed') });
    const [settled] = machine.handle({ kind: 'failed', message: 'no worker took it' });
    expect(settled).toMatchObject({ result: { outcome: 'refused', generation: 0, message: 'no worker took it' } });
    expect(shorten(machine.handle({ kind: 'requested' }))).toEqual(['load 2']);
  });

  it('programmed in part says what is missing', () => {
    const { machine } = dialogue();
    machine.handle({ kind: 'requested' });
    machine.handle({ kind: 'built', outcome: outcome('changed') });
    const [settled] = machine.handle({ kind: 'programmed', message: 'port taken' });
    expect(settled).toMatchObject({ result: { outcome: 'programmed', message: 'port taken' } });
  });
});

describe('a storm of requests', () => {
  it('becomes the running load and exactly one more, whose outcome all of them get', () => {
    const { request, built, programmed } = dialogue();
    expect(request(1)).toEqual(['load 1']);
    expect(request(2)).toEqual([]);
    expect(request()).toEqual([]);
    expect(request(3)).toEqual([]);
    expect(built('changed')).toEqual(['program 1']);
    expect(request(4)).toEqual([]);
    expect(programmed()).toEqual(['settle [1] programmed 1', 'load 2']);
    expect(built('unchanged')).toEqual(['settle [2,3,4] unchanged 1']);
  });

  it('of signals alone, without anyone waiting, still gets its load', () => {
    const { request, built } = dialogue();
    request();
    request();
    expect(built('refused')).toEqual(['settle [] refused 0', 'load 1']);
  });

  it('answers every ticket once, runs one load at a time, and ends idle, whatever comes when', () => {
    const steps = fc.array(fc.constantFrom('request', 'changed', 'updated', 'unchanged', 'refused', 'failed'), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(steps, (list) => {
        const machine = new ReloadMachine();
        const answered = new Map<number, number>();
        let asked = 0;
        let loads = 0;
        let served = 0;
        const take = (commands: readonly ReloadCommand[]): void => {
          for (const command of commands) {
            if (command.kind === 'load') loads += 1;
            if (command.kind !== 'settle') continue;
            loads -= 1;
            expect(command.result.generation).toBeGreaterThanOrEqual(served);
            served = command.result.generation;
            for (const ticket of command.tickets) answered.set(ticket, (answered.get(ticket) ?? 0) + 1);
          }
          expect(loads).toBeLessThanOrEqual(1);
        };
        const advance = (step: string): void => {
          if (machine.phase === 'loading') {
            const kind = step === 'failed' ? 'changed' : (step as BuildOutcome['outcome']);
            take(machine.handle({ kind: 'built', outcome: outcome(kind) }));
          } else if (machine.phase === 'programming') {
            take(
              machine.handle(
                step === 'failed' ? { kind: 'failed', message: 'x' } : { kind: 'programmed', message: '' },
              ),
            );
          }
        };
        for (const step of list) {
          if (step === 'request') take(machine.handle({ kind: 'requested', ticket: asked++ }));
          else advance(step);
        }
        for (let i = 0; i < 6 && machine.phase !== 'idle'; i++) advance('changed');
        expect(machine.phase).toBe('idle');
        expect([...answered.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: asked }, (_, i) => i));
        expect([...answered.values()].every((times) => times === 1)).toBe(true);
      }),
    );
  });

  it('event that fits no phase is a bug and says so', () => {
    const { machine } = dialogue();
    expect(() => machine.handle({ kind: 'programmed', message: '' })).toThrow(
      'WEIRGATE_BUG reload event programmed while idle',
    );
  });
});
