/**
 * The configurations that users see first: each is accepted as it stands, without a warning, and opens what it says.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { admitSnapshot, admitText } from '../../src/admit/index.js';
import { SlotBook } from '../../src/compile/compile.js';
import { build } from '../../src/pipeline.js';

const CLONE = fileURLToPath(new URL('../..', import.meta.url));
const EXAMPLES = readdirSync(join(CLONE, 'config/examples')).map((name) => `config/examples/${name}`);
const QUICKSTART = readdirSync(join(CLONE, 'config/quickstart'))
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => `config/quickstart/${name}`);
const FACTS = { hasIpv6: true, hostAddresses: ['192.0.2.10'], bindFailures: [], assignedAddresses: {} };

const read = (path: string): string => readFileSync(join(CLONE, path), 'utf8');

function buildFiles(paths: readonly string[]) {
  const snapshot = admitSnapshot(paths.map((path) => admitText(path, read(path))));
  const result = build(snapshot, FACTS, new SlotBook(), 1);
  return { diagnostics: [...snapshot.diagnostics, ...result.diagnostics], ir: result.ir };
}

describe('examples', () => {
  it.each(EXAMPLES)('%s is accepted without an error or a warning and opens a socket', (path) => {
    const { diagnostics, ir } = buildFiles([path]);
    expect(diagnostics).toEqual([]);
    expect(ir.sockets.length).toBeGreaterThan(0);
  });

  it.each(EXAMPLES.filter((path) => !path.endsWith('ten-lines.yaml')))('%s says how to run it', (path) => {
    expect(read(path)).toContain(`weirgate run -c ${path}`);
  });

  it('the Gateway of the README is the example of ten lines', () => {
    const text = read('config/examples/ten-lines.yaml');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
    expect(read('README.md')).toContain(text);
  });
});

describe('the quick start', () => {
  it('opens HTTP on 127.0.0.1:8080 and TCP on 127.0.0.1:9000 and nothing else', () => {
    const { diagnostics, ir } = buildFiles(QUICKSTART);
    expect(diagnostics).toEqual([]);
    expect(ir.sockets.map(({ key, protocol }) => `${protocol} ${key}`)).toEqual([
      'http tcp/127.0.0.1:8080',
      'tcp tcp/127.0.0.1:9000',
    ]);
  });

  it('sends hello.localhost to one backend and splits split.localhost 80 to 20', () => {
    const { ir } = buildFiles(QUICKSTART);
    const weights = Object.fromEntries(
      ir.actions.map(({ name, backends }) => [name, backends.map(({ weight }) => weight)]),
    );
    expect(weights).toEqual({
      'HTTPRoute/default/hello/0': [1],
      'HTTPRoute/default/split/0': [80, 20],
      'TCPRoute/default/echo/0': [1],
    });
  });
});
