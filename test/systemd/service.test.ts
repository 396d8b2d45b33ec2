/**
 * weirgate.service under a real systemd: packed, installed, started, reloaded, refused, killed, stopped. Needs root.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BoxedShell } from './boxed-shell.js';

const CLONE = fileURLToPath(new URL('../..', import.meta.url));
const MOST_EXPOSED = 2.0;

/** Files that a package and an administrator would put in place; not below /tmp, which is empty in the box. */
const stage = mkdtempSync('/var/tmp/weirgate-stage-');
let box: BoxedShell;

const CLASS_AND_GATEWAY = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: weirgate }
spec: { controllerName: weirgate.dev/gateway-controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge }
spec:
  gatewayClassName: weirgate
  addresses: [{ value: 127.0.0.1 }]
  listeners: [{ name: http, protocol: HTTP, port: 80 }]
---
apiVersion: weirgate.dev/v1alpha1
kind: Backend
metadata: { name: one }
spec: { endpoints: [{ address: 127.0.0.1, port: 18081 }] }
---
apiVersion: weirgate.dev/v1alpha1
kind: Backend
metadata: { name: two }
spec: { endpoints: [{ address: 127.0.0.1, port: 18082 }] }
`;

const route = (backend: string) => `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: app }
spec: { parentRefs: [{ name: edge }], rules: [{ backendRefs: [{ group: weirgate.dev, kind: Backend, name: ${backend} }] }] }
`;

function put(path: string, text: string): void {
  mkdirSync(join(stage, path, '..'), { recursive: true });
  writeFileSync(join(stage, path), text);
}

/** Packs the clone as npm would publish it and installs that below the stage, so that the box needs no registry. */
function installPackage(): void {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', stage], {
      cwd: CLONE,
      encoding: 'utf8',
    }),
  );
  const tarball = join(stage, packed.filename);
  execFileSync('npm', ['install', '--global', '--prefix', join(stage, 'usr/local'), '--prefer-offline', tarball], {
    stdio: 'pipe',
  });
  rmSync(tarball);
}

/** Writes a file in the box, whole or not at all. */
const write = (path: string, text: string) =>
  box.must(`cat > ${path}.new <<'YAML'\n${text}\nYAML\nmv ${path}.new ${path}`);

const backendThatAnswers = () => box.must('curl -sS --max-time 5 http://127.0.0.1/ | sed -n "s/^backend: //p"');
/** Pid of the primary; throws when the unit does not run, so that no signal goes to process 0. */
async function mainPid(): Promise<number> {
  const pid = Number(await property('MainPID'));
  if (!(pid > 1))
    throw new Error(
      `weirgate.service has no main process: ${await box.must('journalctl --sync; journalctl --no-pager -u weirgate')}`,
    );
  return pid;
}

const property = (name: string) => box.must(`systemctl show weirgate --value -p ${name}`);

beforeAll(async () => {
  installPackage();
  for (const [file, target] of [
    ['weirgate.service', 'usr/lib/systemd/system/weirgate.service'],
    ['weirgate.sysusers', 'usr/lib/sysusers.d/weirgate.conf'],
    ['weirgate.tmpfiles', 'usr/lib/tmpfiles.d/weirgate.conf'],
  ]) {
    mkdirSync(join(stage, target as string, '..'), { recursive: true });
    cpSync(join(CLONE, 'systemd', file as string), join(stage, target as string));
  }
  put('etc/weirgate/gateway.yaml', CLASS_AND_GATEWAY);
  put('etc/weirgate/route.yaml', route('one'));
  cpSync(join(CLONE, 'config/quickstart/demo.mjs'), join(stage, 'opt/demo.mjs'));
  put('etc/systemd/system/demo.service', '[Service]\nExecStart=node /opt/demo.mjs 18081\nDynamicUser=yes\n');
  box = new BoxedShell(stage, 300);
  await box.must(
    'systemd-sysusers && systemd-tmpfiles --create weirgate.conf && systemctl daemon-reload && systemctl start demo',
  );
}, 180_000);

afterAll(async () => {
  await box?.close();
  rmSync(stage, { recursive: true, force: true });
});

describe('the unit file', () => {
  it('is understood by systemd without a complaint', async () => {
    expect(await box.must('systemd-analyze verify /usr/lib/systemd/system/weirgate.service')).toBe('');
  });

  it(`exposes less than ${MOST_EXPOSED.toFixed(1)} by systemd-analyze security`, async () => {
    const report = await box.must('systemd-analyze security --offline=true /usr/lib/systemd/system/weirgate.service');
    const score = /Overall exposure level for weirgate\.service: ([\d.]+)/.exec(report)?.[1];
    expect(Number(score)).toBeLessThan(MOST_EXPOSED);
  });

  it('is part of the package, with sysusers and tmpfiles', () => {
    const files = readdirSync(join(stage, 'usr/local/lib/node_modules/weirgate/systemd'));
    expect(files).toEqual(expect.arrayContaining(['weirgate.service', 'weirgate.sysusers', 'weirgate.tmpfiles']));
  });
});

describe.sequential('weirgate.service', () => {
  it('is started only when it serves, on port 80, as an ordinary user', async () => {
    await box.must('systemctl start weirgate || { journalctl --sync; journalctl --no-pager -u weirgate; false; }');
    expect(await backendThatAnswers()).toBe('hello');
    expect(await box.must('ps -o user= -p $(systemctl show weirgate --value -p MainPID)')).toBe('weirgate');
    expect(await box.must('weirgate status')).toContain('True');
  });

  it('keeps its listening sockets and its pid over a reload, and serves the new configuration at once', async () => {
    const pid = await mainPid();
    await write('/etc/weirgate/route.yaml', route('two'));
    await box.must('systemctl reload weirgate');
    expect(await backendThatAnswers()).toBe('blue');
    expect(await mainPid()).toBe(pid);
  });

  it('fails a reload of a broken file with the reason in the journal, and serves on', async () => {
    await write('/etc/weirgate/route.yaml', 'kind: [HTTPRoute');
    expect((await box.run('systemctl reload weirgate')).status).not.toBe(0);
    expect(await box.must('journalctl --sync; journalctl --no-pager -u weirgate')).toMatch(
      /route\.yaml:\d+:\d+: error\[WG1\d{3}\]/,
    );
    expect(await property('ActiveState')).toBe('active');
    expect(await backendThatAnswers()).toBe('blue');
  });

  it('takes the next good reload after a refused one', async () => {
    await write('/etc/weirgate/route.yaml', route('one'));
    await box.must('systemctl reload weirgate');
    expect(await backendThatAnswers()).toBe('hello');
  });

  it('serves again by itself when the primary was killed', async () => {
    const pid = await mainPid();
    await box.must(`kill -9 ${pid}`);
    await box.must(`until [ "$(systemctl show weirgate --value -p MainPID)" -gt 0 ] && [ "$(systemctl show weirgate --value -p MainPID)" != ${pid} ] &&
      systemctl is-active --quiet weirgate; do sleep 0.05; done`);
    expect(await backendThatAnswers()).toBe('hello');
  });

  it('leaves no process behind when it is stopped', async () => {
    expect(await property('ActiveState')).toBe('active');
    await box.must('systemctl stop weirgate');
    expect(await property('Result')).toBe('success');
    expect((await box.run('pgrep -u weirgate')).output).toBe('');
  });
});
