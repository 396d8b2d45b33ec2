/** Options of `weirgate run`, as the primary gets to see them; nothing is started. */
import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { userPaths } from '../../../src/cli/defaults.js';
import { runCommand } from '../../../src/cli/run.js';
import { MAX_WORKERS } from '../../../src/native/layout.gen.js';

/** Returns the options, or what is said against them. */
function parse(...args: string[]): Record<string, unknown> | string {
  let options: Record<string, unknown> = {};
  let said = '';
  const command = runCommand('1.2.3')
    .exitOverride()
    .configureOutput({ writeErr: (text) => (said += text) })
    .action((parsed: Record<string, unknown>) => {
      options = parsed;
    });
  try {
    command.parse(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return said;
    throw error;
  }
  return options;
}

describe('an option of run', () => {
  it('that is not given leaves the choice to the instance, or has its documented default', () => {
    expect(parse()).toEqual({ drainTimeout: 30, keepGoing: false, logLevel: 'info' });
  });

  it.each([
    [['-c', 'a', 'b.yaml'], { config: ['a', 'b.yaml'] }],
    [['--config', 'a', '--config', 'b'], { config: ['a', 'b'] }],
    [['--workers', '1'], { workers: 1 }],
    [['--workers', String(MAX_WORKERS)], { workers: MAX_WORKERS }],
    [['--drain-timeout', '0'], { drainTimeout: 0 }],
    [['--drain-timeout', '2.5'], { drainTimeout: 2.5 }],
    [['--drain-timeout', '86400'], { drainTimeout: 86_400 }],
    [['--address-pool', '127.1.0.0/16,fd00::/64'], { addressPool: '127.1.0.0/16,fd00::/64' }],
    [['--keep-going'], { keepGoing: true }],
    [['--log-level', 'silent'], { logLevel: 'silent' }],
    [['--state', 's', '--admin', 'unix:a'], { state: 's', admin: 'unix:a' }],
  ])('%j is taken', (args, expected) => {
    expect(parse(...args)).toMatchObject(expected);
  });

  it.each([
    ['--workers', '0', `give a number from 1 to ${MAX_WORKERS}.`],
    ['--workers', String(MAX_WORKERS + 1), `give a number from 1 to ${MAX_WORKERS}.`],
    ['--workers', '1.5', `give a number from 1 to ${MAX_WORKERS}.`],
    ['--workers', '-1', `give a number from 1 to ${MAX_WORKERS}.`],
    ['--workers', '', `give a number from 1 to ${MAX_WORKERS}.`],
    ['--workers', '0x2', `give a number from 1 to ${MAX_WORKERS}.`],
    ['--drain-timeout', '-1', 'give seconds from 0 to 86400.'],
    ['--drain-timeout', '86401', 'give seconds from 0 to 86400.'],
    ['--drain-timeout', 'Infinity', 'give seconds from 0 to 86400.'],
    ['--drain-timeout', '30s', 'give seconds from 0 to 86400.'],
    ['--drain-timeout', '', 'give seconds from 0 to 86400.'],
    ['--drain-timeout', ' ', 'give seconds from 0 to 86400.'],
    ['--log-level', 'INFO', 'give one of debug, info, warn, error, fatal, silent.'],
  ])('%s "%s" is refused with what to give', (option, value, remedy) => {
    expect(parse(option, value)).toContain(remedy);
  });

  it('that takes a value is refused without one', () => {
    expect(parse('--config')).toContain('argument missing');
  });
});

it('the help of run names the default paths of the user who asks', () => {
  const help = runCommand('1.2.3').configureHelp({ helpWidth: 400 }).helpInformation();
  const { config, state, admin } = userPaths();
  for (const path of [config, state, `unix:${admin}`]) expect(help).toContain(`(default: ${path})`);
});
