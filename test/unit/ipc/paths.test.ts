/** Where an instance keeps its things, by user and environment. */
import { describe, expect, it } from 'vitest';
import { defaultPaths, parseAdminAddress } from '../../../src/ipc/paths.js';

const user = { uid: 1000, home: '/home/ada', tmp: '/tmp', env: {} };

describe('default paths', () => {
  it.each([
    ['root', { ...user, uid: 0 }, ['/etc/weirgate', '/var/lib/weirgate', '/run/weirgate/admin.sock']],
    [
      'an ordinary user',
      { ...user, env: { XDG_RUNTIME_DIR: '/run/user/1000' } },
      ['/home/ada/.config/weirgate', '/home/ada/.local/state/weirgate', '/run/user/1000/weirgate/admin.sock'],
    ],
    [
      'a user without a session',
      user,
      ['/home/ada/.config/weirgate', '/home/ada/.local/state/weirgate', '/tmp/weirgate-1000/admin.sock'],
    ],
    [
      'a user with XDG folders, relative ones ignored',
      { ...user, env: { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: 's', XDG_RUNTIME_DIR: '' } },
      ['/c/weirgate', '/home/ada/.local/state/weirgate', '/tmp/weirgate-1000/admin.sock'],
    ],
    [
      'a systemd unit',
      { ...user, env: { RUNTIME_DIRECTORY: '/run/weirgate', STATE_DIRECTORY: '/var/lib/weirgate:/var/lib/other' } },
      ['/home/ada/.config/weirgate', '/var/lib/weirgate', '/run/weirgate/admin.sock'],
    ],
  ])('of %s', (_, context, expected) => {
    const { config, state, admin } = defaultPaths(context);
    expect([config, state, admin]).toEqual(expected);
  });
});

describe('an admin address', () => {
  it('is unix:PATH or a path', () => {
    expect(parseAdminAddress('unix:/run/a.sock')).toEqual({ ok: true, value: '/run/a.sock' });
    expect(parseAdminAddress('a.sock')).toEqual({ ok: true, value: 'a.sock' });
  });

  it.each(['', 'unix:', 'http://127.0.0.1:80', `/${'x'.repeat(107)}`])('"%s" is refused', (text) => {
    expect(parseAdminAddress(text).ok).toBe(false);
  });
});
