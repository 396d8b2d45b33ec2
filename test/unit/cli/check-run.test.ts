import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCheck } from '../../../src/cli/check-run.js';
import { gatewayClass, textOf } from '../../support/snapshot-arbitrary.js';

describe('ports that another program holds', () => {
  let server: Server;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weirgate-check-'));
    server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  });

  afterAll(async () => {
    await new Promise((resolve) => {
      server.close(resolve);
    });
    rmSync(folder, { recursive: true });
  });

  it.each(['Gateway', 'ListenerSet'])('are told at the listener of the %s that wants them', async (owner) => {
    const { port } = server.address() as AddressInfo;
    const listenersOf = (kind: string) => [
      { name: 'spare', protocol: 'HTTP', port: 1, hostname: `${kind.toLowerCase()}.test` },
      ...(kind === owner ? [{ name: 'held', protocol: 'HTTP', port }] : []),
    ];
    const gateway = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'edge' },
      spec: {
        gatewayClassName: 'weirgate',
        addresses: [{ value: '127.0.0.1' }],
        allowedListeners: { namespaces: { from: 'Same' } },
        listeners: listenersOf('Gateway'),
      },
    };
    const set = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'ListenerSet',
      metadata: { name: 'more' },
      spec: { parentRef: { name: 'edge' }, listeners: listenersOf('ListenerSet') },
    };
    writeFileSync(join(folder, 'edge.yaml'), textOf([gatewayClass, gateway, set]));
    const { diagnostics } = await runCheck([folder], async () => undefined);
    const held = diagnostics.filter(({ code, message }) => code === 'WG4091' && message.includes(`:${port} `));
    expect(held.map(({ object, path }) => `${object} ${path}`)).toEqual([
      `${owner} default/${owner === 'Gateway' ? 'edge' : 'more'} spec.listeners[1].port`,
    ]);
  });
});
