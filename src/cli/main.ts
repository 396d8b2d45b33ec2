#!/usr/bin/env node
/**
 * Entry of the command line. Each command is a file of its own; this one only puts them together and settles exit statuses.
 */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { LAYOUT_VERSION } from '../native/layout-version.js';
import { checkCommand } from './check.js';
import { EXIT } from './exit-status.js';
import { explainCommand } from './explain.js';
import { reloadCommand } from './reload.js';
import { runCommand } from './run.js';
import { statusCommand } from './status.js';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

const program = new Command('weirgate')
  .description('A load balancer for Linux hosts, configured with the Kubernetes Gateway API.')
  .version(`weirgate ${version} (layout ${LAYOUT_VERSION})`, '-V, --version')
  .showHelpAfterError('(weirgate --help says how it is used)')
  .addHelpText(
    'after',
    '\nExit status: 0 ok · 1 configuration invalid or operation failed · 2 usage · 3 warnings under --strict · 4 no instance',
  );

for (const command of [runCommand(version), checkCommand(), explainCommand(), statusCommand(), reloadCommand()]) {
  program.addCommand(command.copyInheritedSettings(program));
}
for (const command of [program, ...program.commands.flatMap((each) => [each, ...each.commands])])
  command.exitOverride();

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed);
});

try {
  await program.parseAsync();
} catch (error) {
  // commander has printed the message; its own status for wrong usage is 1.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
}
