/** `weirgate explain request` says what the running instance does, and what files would do. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { atEnd } from './at-end.js';
import { freePort, Instance, weirgate } from './instance.js';
import { simpleHttp } from './manifests.js';

it('answers from the instance, from files, and says which of the two is missing', async () => {
  const port = await freePort();
  const text = simpleHttp(port, 9);
  const instance = await Instance.start({ files: { 'all.yaml': text } });
  const url = `http://any.test:${port}/a`;
  const admin = ['--admin', instance.admin];
  const live = JSON.parse((await weirgate(['explain', 'request', 'GET', url, ...admin, '-o', 'json'])).stdout);
  expect(live.answers).toHaveLength(1);
  expect(live.answers[0]).toMatchObject({ outcome: 'action', result: 'forwarded' });

  const folder = mkdtempSync(join(tmpdir(), 'weirgate-e2e-'));
  atEnd(async () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'all.yaml'), text);
  const judged = JSON.parse((await weirgate(['explain', 'request', 'GET', url, '-c', folder, '-o', 'json'])).stdout);
  expect(judged).toEqual(live);

  writeFileSync(join(folder, 'all.yaml'), 'kind: Gateway\n');
  expect(await weirgate(['explain', 'request', 'GET', url, '-c', folder])).toMatchObject({ status: 1, stdout: '' });
  const gone = await weirgate(['explain', 'request', 'GET', url, '--admin', `unix:${folder}/none.sock`]);
  expect(gone).toMatchObject({ status: 4, stdout: '' });
  expect(gone.stderr).toContain('name files with -c');
  expect(await weirgate(['explain', 'request', 'GET', 'nowhere'])).toMatchObject({ status: 2 });
});
