/** The same under a load that is not ours: wrk, which CI installs. It counts what is not answered, and what is not 2xx. */
import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { untilWhole } from './crew.js';
import { freePort, Instance, until } from './instance.js';
import { simpleHttp } from './manifests.js';
import { httpBackend } from './peers.js';

const SECONDS = 10;
const CONNECTIONS = 64;

interface Outcome {
  readonly requests: number;
  /** Lines about errors. */
  readonly faults: readonly string[];
}

/** Runs wrk to its end. */
function wrk(
  port: number,
  options: readonly string[],
): { readonly outcome: Promise<Outcome>; readonly isOver: () => boolean } {
  let over = false;
  const outcome = new Promise<Outcome>((resolve, reject) => {
    const args = ['-t', '1', '-c', `${CONNECTIONS}`, '-d', `${SECONDS}s`, '--timeout', '20s', ...options];
    const child = spawn('wrk', [...args, `http://127.0.0.1:${port}/`]);
    let text = '';
    child.once('error', reject);
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.once('close', () => {
      over = true;
      const faults = text.split('\n').filter((line) => /Socket errors|Non-2xx/.test(line));
      resolve({ requests: Number(text.match(/(\d+) requests in/)?.[1]), faults });
    });
  });
  return { outcome, isOver: () => over };
}

describe('20 SIGHUPs under wrk', () => {
  it.each([
    ['kept connections', []],
    ['a connection for each request', ['-H', 'Connection: close']],
  ])(
    'lose nothing on %s',
    async (_, options) => {
      const port = await freePort();
      const backends = await Promise.all(['a', 'b'].map((name) => httpBackend(name, (__, res) => void res.end(name))));
      const files = (round: number): string =>
        simpleHttp(port, ...backends.slice(0, 1 + (round % 2)).map((each) => each.port));
      const instance = await Instance.start({ files: { 'edge.yaml': files(0) } });
      await untilWhole(instance, 2);
      const load = wrk(port, options);
      const requests = (): Promise<number> => instance.metric('weirgate_listener_requests_total');
      for (let round = 1; round <= 20; round += 1) {
        const before = await requests();
        await until('the load is under way', async () => (await requests()) > before + 500);
        instance.write('edge.yaml', files(round));
        instance.signal('SIGHUP');
        const settled = `weirgate_config_reloads_total`;
        await until(
          'it is programmed',
          async () => (await instance.metric(settled, { outcome: 'programmed' })) === round + 1,
        );
      }
      expect(load.isOver(), 'all reloads came under load').toBe(false);
      const { requests: answered, faults } = await load.outcome;
      expect(faults).toEqual([]);
      expect(answered).toBeGreaterThan(10_000);
    },
    60_000,
  );
});
