/** What outlives the process: written as a whole, together, and never at the price of the instance. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StateKeeper, type StateKeeperOptions } from '../../../src/primary/state-keeper.js';

let folder: string;
let logged: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weirgate-state-'));
  logged = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = (): string => join(folder, 'ledger.json');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** `contents` are what the build thread gives, one after the other; each call of `take` is awaited through `taken`. */
function keeper(
  contents: readonly (string | undefined)[],
  options: Partial<StateKeeperOptions> = {},
): {
  readonly keeper: StateKeeper;
  readonly asked: boolean[];
} {
  const asked: boolean[] = [];
  const made = new StateKeeper({
    folder,
    take: async (again) => {
      const content = contents[Math.min(asked.length, contents.length - 1)];
      asked.push(again);
      return content === undefined ? undefined : bytes(content);
    },
    log: {
      warn: (_: object, text: string) => logged.push(`warn ${text}`),
      info: (_: object, text: string) => logged.push(`info ${text}`),
    } as unknown as StateKeeperOptions['log'],
    delayMs: 0,
    ...options,
  });
  return { keeper: made, asked };
}

/** Lets the loop turn until something is so. */
async function turns(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

describe('the ledger on disk', () => {
  it('is written whole, for the owner and the group, with nothing left beside it', async () => {
    const { keeper: one } = keeper(['first']);
    one.touch();
    await one.close();
    expect(readFileSync(file(), 'utf8')).toBe('first');
    expect(statSync(file()).mode & 0o777 & ~0o040).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['ledger.json']);
    expect(await one.read()).toEqual(Buffer.from('first'));
  });

  it('gathers changes: a storm of them is one writing, and none without a change', async () => {
    const { keeper: one, asked } = keeper(['storm'], { delayMs: 3_600_000 });
    for (let index = 0; index < 1000; index += 1) one.touch();
    await one.close();
    expect(asked).toEqual([false]);
    const { keeper: idle, asked: idly } = keeper(['nothing']);
    await idle.close();
    expect(idly).toEqual([]);
  });

  it('is left alone where nothing moved', async () => {
    writeFileSync(file(), 'before');
    const { keeper: one } = keeper([undefined]);
    one.touch();
    await one.close();
    expect(readFileSync(file(), 'utf8')).toBe('before');
  });

  it('that cannot be written is told once, tried again, and told when it works', async () => {
    // A folder in place of the file: no disk is full, but rename fails just as well.
    mkdirSync(file());
    writeFileSync(join(file(), 'x'), '');
    const { keeper: one, asked } = keeper(['kept'], { retryMs: 0 });
    const failed = 'warn the ledger cannot be kept: a restart would lose transition times and generations';
    one.touch();
    await turns(() => asked.length >= 3);
    expect(logged).toEqual([failed]);
    rmSync(file(), { recursive: true });
    await one.close();
    expect(readFileSync(file(), 'utf8')).toBe('kept');
    expect(logged).toEqual([failed, 'info the ledger is kept again']);
    expect(readdirSync(folder), 'no half of it').toEqual(['ledger.json']);
    expect(asked.slice(1).every(Boolean), 'what did not get to the disk is asked for again').toBe(true);
  });

  it('that cannot be read is told, and is as if there were none', async () => {
    expect(await keeper([]).keeper.read()).toBeUndefined();
    expect(logged).toEqual([]);
    mkdirSync(file());
    expect(await keeper([]).keeper.read()).toBeUndefined();
    expect(logged).toEqual(['warn the ledger cannot be used: transition times and generations of objects start anew']);
    rmSync(file(), { recursive: true });
    writeFileSync(file(), 'secret');
    chmodSync(file(), 0);
    // Root may read everything.
    if (process.getuid?.() !== 0) expect(await keeper([]).keeper.read()).toBeUndefined();
    expect(existsSync(file())).toBe(true);
  });
});
