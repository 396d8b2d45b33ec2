/** What admission made of files, over restarts: a shortcut that is never taken when anything is odd. */
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { admitText } from '../../../src/admit/index.js';
import {
  type AdmissionCache,
  entryName,
  isKeepable,
  pruneEntries,
  readEntry,
  writeEntry,
} from '../../../src/primary/admission-cache.js';

let parent: string;
let cache: AdmissionCache;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'weirgate-cache-'));
  cache = { folder: join(parent, 'admitted'), version: 'one' };
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const CLASS = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: edge }
spec: { controllerName: weirgate.dev/gateway-controller }
`;
const secret = (data: string): string => `apiVersion: v1
kind: Secret
metadata: { name: shop }
data: ${data}
`;
const content = new Uint8Array([1, 2, 3, 250]);

/** Writes an entry and returns its path. */
function written(name: string): string {
  writeEntry(cache, name, content);
  return join(cache.folder, name);
}

describe('an entry', () => {
  it('gives back what was admitted, places and all', () => {
    const admitted = admitText('a.yaml', `# a comment\n${CLASS}`);
    const name = entryName(cache, 'a.yaml', 'hash');
    writeEntry(cache, name, serialize(admitted));
    expect(deserialize(readEntry(cache, name) as Uint8Array)).toEqual(admitted);
  });

  it('is readable for nobody else', () => {
    const path = written('a'.repeat(64));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(cache.folder).mode & 0o777).toBe(0o700);
  });

  it('is known by path, content and version of admission', () => {
    const names = [
      entryName(cache, 'a.yaml', 'x'),
      entryName(cache, 'b.yaml', 'x'),
      entryName(cache, 'a.yaml', 'y'),
      entryName({ ...cache, version: 'two' }, 'a.yaml', 'x'),
    ];
    expect(new Set(names).size).toBe(4);
  });

  it.each(Array.from({ length: 60 }, (_, at) => at))('that is hurt at byte %i is none', (at) => {
    const path = written('b'.repeat(64));
    const bytes = readFileSync(path);
    bytes.writeUInt8((bytes[at] ?? 0) ^ 1, Math.min(at, bytes.length - 1));
    writeFileSync(path, bytes);
    expect(readEntry(cache, 'b'.repeat(64))).toBeUndefined();
  });

  it('that is cut off, of another name, a link, or writable or readable for others is none', () => {
    const name = 'c'.repeat(64);
    const path = written(name);
    const bytes = readFileSync(path);
    for (let length = 0; length < bytes.length; length++) {
      writeFileSync(path, bytes.subarray(0, length));
      expect(readEntry(cache, name), `${length} bytes`).toBeUndefined();
    }
    writeFileSync(path, bytes);
    expect(readEntry(cache, name)).toEqual(Buffer.from(content));
    writeFileSync(join(cache.folder, 'd'.repeat(64)), bytes, { mode: 0o600 });
    expect(readEntry(cache, 'd'.repeat(64)), 'another name').toBeUndefined();
    symlinkSync(path, join(cache.folder, 'e'.repeat(64)));
    expect(readEntry(cache, 'e'.repeat(64)), 'a link').toBeUndefined();
    for (const mode of [0o602, 0o620, 0o604]) {
      chmodSync(path, mode);
      expect(readEntry(cache, name), mode.toString(8)).toBeUndefined();
    }
    expect(readEntry(cache, 'f'.repeat(64)), 'absent').toBeUndefined();
  });

  it('that cannot be written leaves nothing behind', () => {
    writeFileSync(cache.folder, 'no folder');
    expect(() => writeEntry(cache, 'a'.repeat(64), content)).toThrow();
    expect(readdirSync(parent)).toEqual(['admitted']);
    expect(readEntry(cache, 'a'.repeat(64))).toBeUndefined();
  });
});

it('files with Secrets, good, bad or without a name, are not kept', () => {
  expect(isKeepable(admitText('a.yaml', CLASS))).toBe(true);
  expect(isKeepable(admitText('a.yaml', 'kind: ['))).toBe(true);
  for (const text of [
    secret('{ a: YQ== }'),
    secret('{ a: "?" }'),
    secret('[]'),
    secret('{ a: 1 }').replace('name', 'nam'),
  ]) {
    expect(isKeepable(admitText('a.yaml', `${CLASS}---\n${text}`)), text).toBe(false);
  }
});

it('only the entries of the present files stay, and what is not ours', async () => {
  const [kept, old] = ['a'.repeat(64), 'b'.repeat(64)];
  written(kept);
  written(old);
  writeFileSync(join(cache.folder, `${kept}.77`), 'of a process that was killed');
  writeFileSync(join(cache.folder, 'notes.txt'), 'somebody put this here');
  await pruneEntries(cache, new Set([kept]));
  expect(readdirSync(cache.folder).sort()).toEqual([kept, 'notes.txt']);
  await pruneEntries({ ...cache, folder: join(parent, 'absent') }, new Set());
});
