/**
 * Says what this machine lacks to build Weirgate from a clone, and how to get it; exit status 1 when something is missing.
 * `npm run build` and the quick start run it first. Plain JavaScript without packages: it must run on any Node.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const LEAST_NODE = 20;
const LEAST_RUST = [1, 88];

const RUST_ADVICE = 'install it with rustup (https://rustup.rs), then open a new shell';
const COMPILER_ADVICE = 'install one: apt install gcc libc6-dev, dnf install gcc, or apk add build-base';

/** Output of a program, or undefined when it cannot be run. */
function output(program, ...args) {
  const result = spawnSync(program, args, { encoding: 'utf8' });
  return result.error || result.status !== 0 ? undefined : result.stdout;
}

/** One sentence for each thing that is missing; empty when a build can work. */
export function missingPrerequisites() {
  const missing = [];
  const node = process.versions.node;
  if (process.platform !== 'linux')
    missing.push(`Linux is needed: Weirgate uses epoll and splice; this is ${process.platform}`);
  if (Number(node.split('.')[0]) < LEAST_NODE) {
    missing.push(
      `Node.js ${LEAST_NODE} or newer is needed, this is ${node}: get it from https://nodejs.org or your distribution`,
    );
  }
  const rust = /rustc (\d+)\.(\d+)/.exec(output('rustc', '--version') ?? '');
  if (rust === null || output('cargo', '--version') === undefined) {
    missing.push(`Rust (cargo and rustc) is missing: ${RUST_ADVICE}`);
  } else if (Number(rust[1]) === LEAST_RUST[0] && Number(rust[2]) < LEAST_RUST[1]) {
    missing.push(
      `Rust ${LEAST_RUST.join('.')} or newer is needed, this is ${rust[1]}.${rust[2]}: rustup update stable`,
    );
  }
  if (output(process.env.CC ?? 'cc', '--version') === undefined) {
    missing.push(`a C compiler (${process.env.CC ?? 'cc'}) is missing, Rust links with it: ${COMPILER_ADVICE}`);
  }
  return missing;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const missing = missingPrerequisites();
  for (const line of missing) process.stderr.write(`weirgate cannot be built: ${line}\n`);
  process.exitCode = missing.length === 0 ? 0 : 1;
}
