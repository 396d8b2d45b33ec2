/**
 * `weirgate check PATH…`: what is wrong with a configuration, all of it in one run, without side effects.
 */
import { homedir, tmpdir } from 'node:os';
import { Command, Option } from 'commander';
import { err, ok, type Result } from '../base/index.js';
import { askAdmin } from '../ipc/admin-client.js';
import type { ObjectList, Overview } from '../ipc/admin-protocol.js';
import { defaultPaths, parseAdminAddress } from '../ipc/paths.js';
import { diffObjects } from './check-diff.js';
import { buildReport, type CheckReport, exitStatusOf, formatGithub, formatReport } from './check-report.js';
import { type CheckResult, runCheck } from './check-run.js';
import { createPainter, formatJson, formatYaml, wantsColour } from './output.js';

const FORMATS = ['table', 'json', 'yaml', 'github'] as const;

interface CheckOptions {
  readonly output: (typeof FORMATS)[number];
  readonly strict: boolean;
  readonly diff: boolean;
  readonly admin: string | undefined;
}

const EXIT_USAGE = 2;
const EXIT_UNREACHABLE = 4;

/** An instance that answers at all does so at once; a list of 100,000 objects takes longer. */
const OVERVIEW_TIMEOUT_MS = 1000;
const OBJECTS_TIMEOUT_MS = 30_000;

/** Returns the command. Exit status: 0 fine · 1 errors · 2 usage · 3 warnings under --strict · 4 no instance for --diff. */
export function checkCommand(): Command {
  return new Command('check')
    .summary('say what is wrong with a configuration')
    .description('Reads files and folders of Gateway API YAML and says what is wrong with them, without side effects.')
    .argument('<path...>', 'files, or folders of *.yaml files')
    .addOption(new Option('-o, --output <format>', 'how to print the report').choices(FORMATS).default('table'))
    .option('--strict', 'exit with 3 when there are warnings', false)
    .option('--diff', 'say what a reload would change in the running instance', false)
    .option('--admin <address>', 'admin socket of the running instance, unix:PATH')
    .action(async (paths: string[], options: CheckOptions) => {
      process.exitCode = await check(paths, options);
    });
}

async function check(paths: readonly string[], options: CheckOptions): Promise<number> {
  const socket = adminSocket(options.admin);
  if (!socket.ok) return complain(socket.error, EXIT_USAGE);
  const result = await runCheck(paths, () => askOverview(socket.value));
  if (!options.diff) return print(buildReport(result), result, options);
  const running = await askObjects(socket.value);
  if (!running.ok) return complain(running.error, EXIT_UNREACHABLE);
  const changes = diffObjects(running.value.items, result.objects);
  return print(buildReport({ ...result, changes }), result, options);
}

function print(report: CheckReport, { texts }: CheckResult, { output, strict }: CheckOptions): number {
  process.stdout.write(format(report, texts, output));
  return exitStatusOf(report, strict);
}

function format(report: CheckReport, texts: ReadonlyMap<string, string>, output: CheckOptions['output']): string {
  switch (output) {
    case 'table':
      return formatReport(report, texts, createPainter(wantsColour(process.env, process.stdout.isTTY === true)));
    case 'json':
      return formatJson(report);
    case 'yaml':
      return formatYaml(report);
    case 'github':
      return formatGithub(report);
  }
}

function complain(message: string, status: number): number {
  process.stderr.write(`error: ${message}\n`);
  return status;
}

function adminSocket(address: string | undefined): Result<string, string> {
  if (address !== undefined) return parseAdminAddress(address);
  const uid = process.getuid?.() ?? 0;
  return ok(defaultPaths({ uid, home: homedir(), tmp: tmpdir(), env: process.env }).admin);
}

async function askOverview(socket: string): Promise<Overview | undefined> {
  const answer = await askAdmin(socket, 'GET', '/overview', { timeoutMs: OVERVIEW_TIMEOUT_MS });
  if (!answer.ok || answer.value.status !== 200) return undefined;
  return JSON.parse(answer.value.body) as Overview;
}

async function askObjects(socket: string): Promise<Result<ObjectList, string>> {
  const answer = await askAdmin(socket, 'GET', '/objects', { timeoutMs: OBJECTS_TIMEOUT_MS });
  if (!answer.ok) return err(answer.error.message);
  if (answer.value.status !== 200) return err(`the instance answered ${answer.value.status} to GET /objects`);
  return ok(JSON.parse(answer.value.body) as ObjectList);
}
