/**
 * A shell inside a systemd of its own (see `box`): commands in, exit status and output out. Serves the tests of the unit.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const BOX = fileURLToPath(new URL('./box', import.meta.url));
const END = '--- end of command, status ';

export interface CommandResult {
  readonly status: number;
  /** Standard output and error, in the order in which they came. */
  readonly output: string;
}

export class BoxedShell {
  readonly #process: ChildProcessWithoutNullStreams;
  #text = '';
  #wake: () => void = () => {};

  /** Boots a box over the files of `over`; rejects nothing: a box that does not come up fails the first command. */
  constructor(over: string, limitSeconds: number) {
    this.#process = spawn(BOX, ['--over', over, '--limit', String(limitSeconds), 'bash'], { stdio: 'pipe' });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        this.#text += chunk;
        this.#wake();
      });
    }
    this.#process.on('exit', () => this.#wake());
  }

  /** Runs one command line in bash and returns when it has ended. Throws when the box itself is gone. */
  async run(command: string): Promise<CommandResult> {
    this.#process.stdin.write(`( ${command}\n) 2>&1 < /dev/null; printf '\\n%s%s\\n' '${END}' $?\n`);
    for (;;) {
      const at = this.#text.indexOf(END);
      const line = at < 0 ? -1 : this.#text.indexOf('\n', at);
      if (line >= 0) {
        const result = {
          status: Number(this.#text.slice(at + END.length, line)),
          output: this.#text.slice(0, at).trim(),
        };
        this.#text = this.#text.slice(line + 1);
        return result;
      }
      if (this.#process.exitCode !== null) throw new Error(`the box ended during "${command}": ${this.#text}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Like `run`, for commands that must succeed: throws with their output otherwise. */
  async must(command: string): Promise<string> {
    const { status, output } = await this.run(command);
    if (status !== 0) throw new Error(`"${command}" ended with status ${status}:\n${output}`);
    return output;
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    this.#process.stdin.end();
    await once(this.#process, 'exit');
  }
}
