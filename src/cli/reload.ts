/**
 * `weirgate reload [--wait]`: has a running instance read its files again, and says what came of it.
 */
import { Command } from 'commander';
import type { Diagnostic } from '../base/index.js';
import { askAdmin } from '../ipc/admin-client.js';
import type { ReloadAnswer } from '../ipc/admin-protocol.js';
import { formatDiagnostic } from './check-report.js';
import { complain, findAdminSocket, painterFor } from './defaults.js';
import { EXIT } from './exit-status.js';
import { counted } from './output.js';

interface ReloadOptions {
  readonly wait: boolean;
  readonly admin: string | undefined;
}

/** An instance answers at once when nobody waits for the outcome. */
const ASK_TIMEOUT_MS = 5_000;
/** Changes that are printed one by one. */
const MAX_CHANGES = 50;

/** Returns the command. Exit status: 0 programmed, or nothing to do · 1 refused, or programmed in part · 4 no instance. */
export function reloadCommand(): Command {
  return new Command('reload')
    .summary('have the running instance read its files again')
    .option('--wait', 'wait until every worker serves the new configuration, and fail when it is refused', false)
    .option('--admin <address>', 'admin socket of the running instance, unix:PATH')
    .action(async (options: ReloadOptions) => {
      process.exitCode = await reload(options);
    });
}

async function reload({ wait, admin }: ReloadOptions): Promise<number> {
  const socket = findAdminSocket(admin);
  if (!socket.ok) return complain(socket.error, EXIT.usage);
  const target = wait ? '/reload?wait=1' : '/reload';
  const answer = await askAdmin(socket.value, 'POST', target, { timeoutMs: wait ? 0 : ASK_TIMEOUT_MS });
  if (!answer.ok) return complain(answer.error.message, EXIT.unreachable);
  const { status, body } = answer.value;
  if (status >= 500) return complain(`the instance answered ${status}: ${body.trim()}`, EXIT.failed);
  const settled = JSON.parse(body) as ReloadAnswer;
  printDiagnostics(settled.diagnostics);
  if (settled.outcome === 'refused') {
    const why = settled.message === '' ? 'its files have errors' : settled.message;
    return complain(
      `the new configuration was refused, generation ${settled.generation} goes on serving: ${why}`,
      EXIT.failed,
    );
  }
  process.stdout.write(formatOutcome(settled));
  if (settled.message === '') return EXIT.ok;
  return complain(`not all of it could be programmed: ${settled.message}`, EXIT.failed);
}

/** Returns what changed, for people. */
export function formatOutcome({ outcome, generation, changes, durationMs }: ReloadAnswer): string {
  if (outcome === 'requested') return 'reload requested\n';
  if (outcome === 'unchanged') return `nothing to change: generation ${generation} serves these files already\n`;
  const signs = { added: '+', changed: '~', removed: '-' };
  const lines = changes.slice(0, MAX_CHANGES).map(({ object, change }) => `${signs[change]} ${object}\n`);
  if (changes.length > MAX_CHANGES) lines.push(`… and ${changes.length - MAX_CHANGES} more\n`);
  lines.push(`generation ${generation} serves, ${counted(changes.length, 'change')}, ${durationMs} ms\n`);
  return lines.join('');
}

function printDiagnostics(diagnostics: readonly Diagnostic[]): void {
  const paint = painterFor(process.stderr);
  for (const { span, ...rest } of diagnostics) {
    process.stderr.write(
      formatDiagnostic({ ...rest, file: span.file, line: span.line, column: span.column }, [], paint),
    );
  }
}
