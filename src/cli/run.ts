/**
 * `weirgate run`: an instance in the foreground. Parses options, listens to signals; everything else is `primary/`.
 */
import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { parseAdminAddress } from '../ipc/paths.js';
import { MAX_WORKERS } from '../native/layout.gen.js';
import { openLog } from '../observe/log.js';
import { complain, userPaths } from './defaults.js';
import { EXIT } from './exit-status.js';

interface RunOptions {
  readonly config: readonly string[] | undefined;
  readonly workers: number | undefined;
  readonly state: string | undefined;
  readonly admin: string | undefined;
  readonly addressPool: string | undefined;
  readonly drainTimeout: number;
  readonly keepGoing: boolean;
  readonly logLevel: string;
}

const DEFAULT_DRAIN_S = 30;
const MAX_DRAIN_S = 24 * 60 * 60;
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Returns the command. `version` is the release's. */
export function runCommand(version: string): Command {
  return new Command('run')
    .summary('run an instance in the foreground')
    .description(
      'Serves traffic as files of Gateway API YAML say. SIGHUP reloads, SIGTERM drains and stops, a second signal stops at once.',
    )
    .option('-c, --config <path...>', `files, or folders of *.yaml files (default: ${userPaths().config})`)
    .option(
      '--workers <number>',
      `worker processes (default: one for each core, ${availableParallelism()} here)`,
      parseWorkers,
    )
    .option('--state <folder>', `folder of its own for what outlives it (default: ${userPaths().state})`)
    .option('--admin <address>', `admin socket (default: unix:${userPaths().admin})`)
    .option('--address-pool <cidr>', 'networks, separated by commas, from which each Gateway gets its own address')
    .option('--drain-timeout <seconds>', 'how long connections may go on after SIGTERM', parseDrain, DEFAULT_DRAIN_S)
    .option('--keep-going', 'serve what is good when other objects have errors', false)
    .option('--log-level <level>', `least level that is logged: ${LOG_LEVELS.join(', ')}`, parseLevel, 'info')
    .action(async (options: RunOptions) => {
      process.exitCode = await run(version, options);
    });
}

async function run(version: string, options: RunOptions): Promise<number> {
  const paths = userPaths();
  const admin = parseAdminAddress(options.admin ?? paths.admin);
  if (!admin.ok) return complain(admin.error, EXIT.usage);
  const log = openLog({ level: options.logLevel });
  let primary: import('../primary/primary.js').Primary;
  try {
    // Only here: other commands work without the addon, and start faster.
    const { Primary } = await import('../primary/primary.js');
    primary = new Primary({
      version,
      sources: options.config ?? [paths.config],
      workers: options.workers,
      stateFolder: options.state ?? paths.state,
      adminPath: admin.value,
      addressPool: options.addressPool,
      drainLimitMs: options.drainTimeout * 1000,
      keepGoing: options.keepGoing,
      env: process.env,
      log,
    });
  } catch (error) {
    return complain((error as Error).message, EXIT.failed);
  }
  let stopping = false;
  const stop = (): void => {
    stopping = true;
    primary.stop();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => void primary.reload());
  process.on('SIGUSR1', () => primary.reopenLog());
  try {
    await primary.start();
    process.stdout.write(`ready pid=${process.pid} generation=${primary.generation} listeners=${primary.listeners}\n`);
    await primary.done;
    return EXIT.ok;
  } catch (error) {
    // A signal ended the start: that is no failure.
    if (stopping) return EXIT.ok;
    return complain(isExpected(error) ? error.message : ((error as Error).stack ?? String(error)), EXIT.failed);
  }
}

/** Expected failures have a code of ours and a message for people; everything else is a bug and shows where. */
function isExpected(error: unknown): error is Error {
  const code = (error as { readonly code?: unknown }).code;
  return error instanceof Error && typeof code === 'string' && code.startsWith('WEIRGATE_');
}

function parseWorkers(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MAX_WORKERS) return count;
  throw new InvalidArgumentError(`give a number from 1 to ${MAX_WORKERS}.`);
}

function parseDrain(text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= MAX_DRAIN_S) return seconds;
  throw new InvalidArgumentError(`give seconds from 0 to ${MAX_DRAIN_S}.`);
}

function parseLevel(text: string): string {
  if (LOG_LEVELS.includes(text)) return text;
  throw new InvalidArgumentError(`give one of ${LOG_LEVELS.join(', ')}.`);
}
