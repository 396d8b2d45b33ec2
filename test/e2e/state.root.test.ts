/** A state folder whose disk is full. A small file system of its own needs root. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { atEnd } from './at-end.js';
import { freePort, Instance, until } from './instance.js';
import { simpleHttp } from './manifests.js';
import { ask, httpBackend } from './peers.js';

it('a full disk costs one warning and no traffic; the ledger stays whole, and is kept again when there is room', async () => {
  const state = mkdtempSync(join(tmpdir(), 'weirgate-full-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', state]);
  atEnd(async () => {
    execFileSync('umount', ['-l', state]);
    rmSync(state, { recursive: true });
  });
  const [port, upstream] = [await freePort(), await httpBackend('up')];
  const text = simpleHttp(port, upstream.port);
  const instance = await Instance.start({ files: { 'edge.yaml': text }, args: ['--state', state] });
  const ledger = (): string => readFileSync(join(state, 'ledger.json'), 'utf8');
  await until('there is a ledger', () => {
    try {
      return ledger() !== '';
    } catch {
      return false;
    }
  });
  const fillers: string[] = [];
  const fill = (): void => {
    const filler = join(state, `filler-${fillers.length}`);
    fillers.push(filler);
    expect(() => writeFileSync(filler, Buffer.alloc(128 * 1024))).toThrow('ENOSPC');
  };
  const isTold = (): boolean => instance.stderr.includes('the ledger cannot be kept');
  let before = '';
  let name = '';
  // What else is kept in the folder may make room when it is replaced: then the disk is filled once more.
  await until('it is told', async () => {
    fill();
    before = ledger();
    name = `other-${fillers.length}`;
    const renamed = text.replaceAll('"pool"', JSON.stringify(name));
    expect(renamed).not.toBe(text);
    instance.write('edge.yaml', renamed);
    expect((await instance.reload()).status).toBe(0);
    await until('it is told, or kept all the same', () => isTold() || ledger() !== before);
    return isTold();
  });
  expect(instance.stderr).toContain('ENOSPC');
  expect((await ask(port)).status).toBe(200);
  expect(ledger()).toBe(before);

  for (const filler of fillers) rmSync(filler);
  await instance.stop();
  expect(instance.stderr).toContain('the ledger is kept again');
  expect(ledger()).toContain(`Backend default/${name}`);
  expect(instance.stderr.match(/the ledger cannot be kept/g)).toHaveLength(1);
});
