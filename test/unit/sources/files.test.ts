/** Reading configuration folders as they are found on hosts and in containers. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_FILE_BYTES, readFolder } from '../../../src/sources/files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weirgate-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (name: string, text = name): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

async function names(...paths: string[]): Promise<string[]> {
  const { files, diagnostics } = await readFolder(paths.length === 0 ? [folder] : paths);
  expect(diagnostics).toEqual([]);
  return files.map(({ file }) => file.slice(folder.length + 1));
}

/** Reads and returns the only fault. */
async function fault(...paths: string[]): Promise<{ code: string; message: string; file: string; files: number }> {
  const { files, diagnostics } = await readFolder(paths);
  expect(diagnostics).toHaveLength(1);
  const { code, message, span } = diagnostics[0] as (typeof diagnostics)[0];
  return { code, message, file: span.file, files: files.length };
}

describe('a folder', () => {
  it('gives its *.yaml, *.yml and *.json at every depth, sorted, and nothing else', async () => {
    mkdirSync(join(folder, 'b/c'), { recursive: true });
    for (const name of ['z.yaml', 'a.yml', 'b/c/d.yaml', 'b/e.json', 'notes.txt', 'b/c/backup.yaml~', 'json'])
      put(name);
    expect(await names()).toEqual(['a.yml', 'b/c/d.yaml', 'b/e.json', 'z.yaml']);
  });

  it('leaves out names with a leading dot: swap files and what ConfigMaps keep aside', async () => {
    mkdirSync(join(folder, '..2026_11_30'));
    put('..2026_11_30/edge.yaml');
    symlinkSync('..2026_11_30', join(folder, '..data'));
    symlinkSync('..data/edge.yaml', join(folder, 'edge.yaml'));
    put('.edge.yaml.swp');
    put('.hidden.yaml');
    expect(await names()).toEqual(['edge.yaml']);
  });

  it('reached twice, or a file named beside its folder, is read once', async () => {
    const file = put('a.yaml');
    symlinkSync(folder, join(folder, 'again'));
    expect(await names(folder, file, folder)).toEqual(['a.yaml']);
  });

  it('that is a link, or holds one to a folder elsewhere, is followed, and files keep the path by which they were found', async () => {
    mkdirSync(join(folder, 'elsewhere'));
    mkdirSync(join(folder, 'config'));
    put('elsewhere/a.yaml');
    symlinkSync('../elsewhere', join(folder, 'config/linked'));
    symlinkSync('config', join(folder, 'current'));
    expect(await names(join(folder, 'current'))).toEqual(['current/linked/a.yaml']);
  });

  it('is sorted by code units, whatever the locale and the order of the paths', async () => {
    mkdirSync(join(folder, 'b'));
    for (const name of ['ä.yaml', 'B.yaml', 'a.yaml', 'b/a.yaml', 'a-1.yaml', '10.yaml', '9.yaml']) put(name);
    const sorted = ['10.yaml', '9.yaml', 'B.yaml', 'a-1.yaml', 'a.yaml', 'b/a.yaml', 'ä.yaml'];
    expect(await names(join(folder, 'b'), folder)).toEqual(sorted);
  });

  it('whose links lead in a circle of names says so and gives the rest', async () => {
    put('a.yaml');
    symlinkSync('c.yaml', join(folder, 'b.yaml'));
    symlinkSync('b.yaml', join(folder, 'c.yaml'));
    const { files, diagnostics } = await readFolder([folder]);
    expect(files).toHaveLength(1);
    expect(diagnostics.map(({ code }) => code)).toEqual(['WG1904', 'WG1904']);
  });

  it('nested deeper than any real one is given up with a hint, what lies above is read', async () => {
    const deep = Array.from({ length: 34 }, (_, i) => `d${i}`);
    mkdirSync(join(folder, ...deep), { recursive: true });
    put('a.yaml');
    put(join(...deep, 'lost.yaml'));
    expect(await fault(folder)).toMatchObject({ code: 'WG1904', files: 1 });
  });

  it('with a link that leads nowhere says so and gives the rest', async () => {
    put('a.yaml');
    symlinkSync('gone', join(folder, 'b.yaml'));
    expect(await fault(folder)).toMatchObject({ code: 'WG1901', files: 1 });
  });

  it('with a pipe does not wait for a writer', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe.yaml')]);
    expect(await fault(folder)).toMatchObject({ code: 'WG1903', message: 'not a regular file' });
  });
});

describe('a file', () => {
  it('named by the user may have any extension', async () => {
    expect(await names(put('gateway.conf'))).toEqual(['gateway.conf']);
  });

  it('has a hash that changes with its content only', async () => {
    const path = put('a.yaml', 'one');
    const hash = async (): Promise<string | undefined> => (await readFolder([path])).files[0]?.hash;
    const before = await hash();
    put('a.yaml', 'one');
    expect(await hash()).toBe(before);
    put('a.yaml', 'two');
    expect(await hash()).not.toBe(before);
  });

  it('that does not exist is named with ENOENT', async () => {
    const path = join(folder, 'missing');
    expect(await fault(path)).toMatchObject({ code: 'WG1901', file: path, message: 'no such file or folder (ENOENT)' });
  });

  it('that is not UTF-8 is refused, a byte order mark is not', async () => {
    const path = join(folder, 'latin1.yaml');
    writeFileSync(path, Buffer.from([0x61, 0xe9, 0x0a]));
    expect(await fault(path)).toMatchObject({ code: 'WG1906' });
    writeFileSync(path, '\ufeffa: 1\n');
    const { files } = await readFolder([path]);
    expect(files[0]?.text).toBe('a: 1\n');
  });

  it('that is too large is refused unread', async () => {
    const path = put('large.yaml', '');
    truncateSync(path, MAX_FILE_BYTES + 1);
    expect(await fault(path)).toMatchObject({ code: 'WG1905' });
  });

  it('or folder that may not be read is named with the user who tried', async () => {
    const path = put('secret.yaml');
    chmodSync(path, 0);
    const { diagnostics } = await readFolder([path]);
    // Root may read everything: there it is no fault.
    const expected = process.getuid?.() === 0 ? [] : ['WG1902'];
    expect(diagnostics.map(({ code }) => code)).toEqual(expected);
    for (const { message } of diagnostics) expect(message).toMatch(/^not readable for user .* \(EACCES\)$/);
  });
});
