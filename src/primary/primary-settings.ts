/** What an instance is started with, complete, and why a start may be refused. Serves `cli/run.ts` and `primary.ts`. */
import type { Diagnostic } from '../base/index.js';
import type { Log } from '../observe/log.js';

export interface PrimarySettings {
  readonly version: string;
  /** Files and folders. */
  readonly sources: readonly string[];
  /** Undefined: what the configuration says, else one for each usable core. */
  readonly workers: number | undefined;
  readonly stateFolder: string;
  readonly adminPath: string;
  /** Networks in CIDR notation, separated by commas. */
  readonly addressPool: string | undefined;
  /** How long connections may go on after SIGTERM. */
  readonly drainLimitMs: number;
  /** Serve what is good when other objects have errors, in place of refusing the configuration. */
  readonly keepGoing: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

/** A start that was refused; the message is for people. */
export class StartError extends Error {
  readonly code = 'WEIRGATE_START_REFUSED';
  /** Faults of the configuration, when those are the reason. */
  readonly diagnostics: readonly Diagnostic[];

  constructor(message: string, diagnostics: readonly Diagnostic[] = []) {
    super(message);
    this.name = 'StartError';
    this.diagnostics = diagnostics;
  }
}
