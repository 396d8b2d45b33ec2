/** Files and arguments that nobody means well with: an answer, a status that says which, no stack trace and no hang. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { atEnd } from './at-end.js';
import { type CommandResult, weirgate } from './instance.js';
import { simpleHttp } from './manifests.js';

/** An empty folder, removed with the test. */
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'weirgate-hostile-'));
  atEnd(async () => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Holds what goes for every answer, whatever was asked. */
function expectAnswer({ status, stdout, stderr }: CommandResult, expected: number): string {
  const text = stdout + stderr;
  expect(text).not.toMatch(/^\s+at .*(?:\.js|node:)/m);
  expect(text).not.toMatch(/UnhandledPromise|TypeError|RangeError|heap out of memory/);
  expect({ status, text }).toEqual({ status: expected, text });
  return text;
}

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const BOMB = `a: &a [${'x,'.repeat(9)}x]\n${'bcdefghi'
  .split('')
  .map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(9)}*${'abcdefgh'[index]}]`)
  .join('\n')}\n`;

const TEXTS: readonly (readonly [string, string | Buffer])[] = [
  ['bytes of no text', Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7) % 256))],
  ['zeros', Buffer.alloc(4096)],
  ['half of UTF-16', Buffer.from('\ufeffkind: Gateway', 'utf16le')],
  ['lists without an end', DEEP],
  ['aliases of aliases', BOMB],
  ['maps as keys', '? {a: b}\n: c\n'],
  ['a tag', '!!js/function "function () { return 1 }"\n'],
  ['merges of itself', 'a: &a\n  <<: *a\n'],
  ['one line of ten million letters', `kind: ${'x'.repeat(10_000_000)}\n`],
  ['a hundred thousand documents', '---\na: 1\n'.repeat(100_000)],
  ['a thousand copies', `${simpleHttp(18_080, 9)}---\n`.repeat(1000)],
];

describe('weirgate check', () => {
  it.each(TEXTS)('of a file with %s', { timeout: 120_000 }, async (_, text) => {
    const path = join(folder(), 'hostile.yaml');
    writeFileSync(path, text);
    const output = expectAnswer(await weirgate(['check', path]), 1);
    expect(output).toMatch(/error/);
    for (const format of ['json', 'yaml', 'github']) expectAnswer(await weirgate(['check', path, '-o', format]), 1);
  });

  it('of a kind with the name of a method: it is nobody’s', async () => {
    const path = join(folder(), 'hostile.yaml');
    writeFileSync(path, '{"__proto__": {"kind": "Gateway"}, "constructor": 1, "apiVersion": "v1", "kind": "toString"}');
    expect(expectAnswer(await weirgate(['check', path]), 0)).toContain('none of Weirgate');
  });

  it('of files that are larger than any may be', { timeout: 120_000 }, async () => {
    const path = folder();
    // Sparse: nothing is written, and nothing must be read.
    const file = openSync(join(path, 'huge.yaml'), 'w');
    writeSync(file, 'x', 2 ** 31);
    closeSync(file);
    expect(expectAnswer(await weirgate(['check', path]), 1)).toContain('huge.yaml');
  });

  it('of what is no file: pipes, loops, devices, folders with the names of files', async () => {
    const path = folder();
    execFileSync('mkfifo', [join(path, 'pipe.yaml')]);
    symlinkSync('loop.yaml', join(path, 'loop.yaml'));
    symlinkSync('.', join(path, 'again'));
    symlinkSync('nowhere', join(path, 'gone.yaml'));
    symlinkSync('/dev/zero', join(path, 'zero.yaml'));
    mkdirSync(join(path, 'folder.yaml'));
    writeFileSync(join(path, 'empty.yaml'), '');
    const output = expectAnswer(await weirgate(['check', path]), 1);
    for (const name of ['pipe.yaml', 'loop.yaml', 'gone.yaml', 'zero.yaml']) expect(output).toContain(name);
  });
});

describe('weirgate explain request', () => {
  const URLS = [
    '',
    'http://',
    'http://[',
    'http://[::1',
    'http://a:99999/',
    'http://a:0/',
    'http:///path',
    '//a/b',
    'ftp://a/',
    'file:///etc/passwd',
    'javascript:1',
    `http://${'a'.repeat(100_000)}/`,
    'udp://a',
    'tls://',
    'http://\u{1f600}.test/%zz',
    'http://user:secret@a/',
    'http://a/\r\nHost: b',
    'constructor',
  ];

  it.each(URLS.map((url) => [url.slice(0, 40), url]))(
    'of the URL "%s" answers or says what is wrong with it',
    async (_, url) => {
      const path = join(folder(), 'good.yaml');
      writeFileSync(path, simpleHttp(18_080, 9));
      const result = await weirgate(['explain', 'request', 'GET', url, '-c', path]);
      expectAnswer(result, result.status === 0 ? 0 : 2);
    },
  );

  it.each([':', 'a', 'a b: c', ': c', '', '__proto__: x', 'host: a\r\nb: c', `x: ${'y'.repeat(100_000)}`])(
    'with the header "%s" answers or says what is wrong with it',
    async (header) => {
      const path = join(folder(), 'good.yaml');
      writeFileSync(path, simpleHttp(18_080, 9));
      const result = await weirgate(['explain', 'request', 'GET', 'http://a:18080/', '-c', path, '-H', header]);
      expectAnswer(result, result.status === 0 ? 0 : 2);
    },
  );
});

it.each([
  '',
  '.',
  '..',
  '__proto__',
  'constructor',
  'gateway.__proto__',
  'gateway.constructor',
  'gateway.spec[',
  'a'.repeat(1e5),
])('weirgate explain %s is a question that cannot be answered', async (field) => {
  expectAnswer(await weirgate(['explain', field]), 2);
});

it.each(['__proto__', 'constructor', 'toString', 'gateways,,', '/', 'a/b/c'])(
  'weirgate status %s is refused before anybody is asked, or finds nobody',
  async (kind) => {
    const result = await weirgate(['status', kind, '--admin', `unix:${join(folder(), 'none.sock')}`]);
    expectAnswer(result, result.status === 4 ? 4 : 2);
  },
);
