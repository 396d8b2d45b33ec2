/** What commands take from the environment of the process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { complain, findAdminSocket, painterFor, userPaths } from '../../../src/cli/defaults.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weirgate-defaults-'));
  for (const name of ['STATE_DIRECTORY', 'FORCE_COLOR', 'NO_COLOR']) vi.stubEnv(name, undefined);
  vi.stubEnv('RUNTIME_DIRECTORY', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

describe('the admin socket to ask', () => {
  it('is the one named, whatever the environment says', () => {
    expect(findAdminSocket('unix:/somewhere/else.sock')).toEqual({ ok: true, value: '/somewhere/else.sock' });
  });

  it('is refused when what is named is no socket path', () => {
    expect(findAdminSocket('http://127.0.0.1:9000')).toMatchObject({ ok: false });
  });

  it('is the user’s own when there is one', () => {
    const own = join(folder, 'admin.sock');
    writeFileSync(own, '');
    expect(findAdminSocket(undefined)).toEqual({ ok: true, value: own });
  });
});

it('paths follow the environment of the process at the time of asking', () => {
  vi.stubEnv('STATE_DIRECTORY', '/elsewhere/state');
  expect(userPaths()).toMatchObject({ state: '/elsewhere/state', admin: join(folder, 'admin.sock') });
});

describe('a complaint', () => {
  const said = (): string => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    expect(complain('the pool is dry', 3)).toBe(3);
    return write.mock.calls.map(([text]) => String(text)).join('');
  };

  it('goes to standard error as one line and gives back its status', () => {
    vi.stubEnv('NO_COLOR', '1');
    expect(said()).toBe('error: the pool is dry\n');
  });

  it('is coloured when colour is forced', () => {
    vi.stubEnv('FORCE_COLOR', '1');
    expect(said()).toBe('\u001b[31merror\u001b[39m: the pool is dry\n');
  });
});

it('a stream that is no terminal is not painted', () => {
  const stream = { isTTY: undefined } as unknown as NodeJS.WriteStream;
  expect(painterFor(stream)('red', 'x')).toBe('x');
});
