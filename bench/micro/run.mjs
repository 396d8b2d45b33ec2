/**
 * `npm run bench`: what the parts cost in process. Admission and builds by tinybench; host lookup and counting by the
 * native example `request_speed` over a table made here. Prints a table; needs `npm run build`.
 *
 *     npm run bench -- [--quick]          --quick leaves the build of 100,000 routes out
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Bench } from 'tinybench';
import { admitSnapshot, admitText } from '../../dist/admit/index.js';
import { SlotBook } from '../../dist/compile/compile.js';
import { build } from '../../dist/pipeline.js';

const CLONE = fileURLToPath(new URL('../..', import.meta.url));
const SIZES = process.argv.includes('--quick') ? [1_000, 10_000] : [1_000, 10_000, 100_000];
const ROUTES_A_FILE = 1_000;
const LOOKUP_HOSTS = 10_000;

/** What a host without peculiarities knows. */
const FACTS = { hasIpv6: true, hostAddresses: ['192.0.2.10'], bindFailures: [], assignedAddresses: {} };

const BASE = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: bench }
spec: { controllerName: weirgate.dev/gateway-controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: bench }
spec: { gatewayClassName: bench, addresses: [{ value: 127.0.0.1 }], listeners: [{ name: http, protocol: HTTP, port: 8080 }] }
---
apiVersion: weirgate.dev/v1alpha1
kind: Backend
metadata: { name: app }
spec: { endpoints: [{ address: 127.0.0.1, port: 3000 }] }
`;

const hostname = (i) => `host-${String(i).padStart(6, '0')}.bench.example`;

const route = (i) => `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: route-${i}
spec:
  parentRefs:
    - name: bench
  hostnames:
    - ${hostname(i)}
  rules:
    - matches:
        - path: { type: PathPrefix, value: / }
      backendRefs:
        - { group: weirgate.dev, kind: Backend, name: app }
`;

/** Files of a configuration with so many routes, one host name each. */
function files(count) {
  const found = [{ file: 'base.yaml', text: BASE }];
  for (let first = 0; first < count; first += ROUTES_A_FILE) {
    const routes = Array.from({ length: Math.min(ROUTES_A_FILE, count - first) }, (_, i) => route(first + i));
    found.push({ file: `routes-${first}.yaml`, text: routes.join('') });
  }
  return found;
}

function snapshotOf(count) {
  const snapshot = admitSnapshot(files(count).map(({ file, text }) => admitText(file, text)));
  if (snapshot.diagnostics.length > 0)
    throw new Error(`the bench's own configuration: ${snapshot.diagnostics[0].message}`);
  return snapshot;
}

const rows = [];

/** Median and extremes in milliseconds; per unit in microseconds. */
async function measure(name, units, iterations, task) {
  const bench = new Bench({ iterations, time: 0, warmupIterations: 1, warmupTime: 0 });
  bench.add(name, task);
  await bench.run();
  const { result } = bench.tasks[0];
  if (result.error !== undefined) throw result.error;
  const { p50, min, max } = result.latency;
  rows.push([
    name,
    `${p50.toFixed(1)} ms (${min.toFixed(1)}–${max.toFixed(1)})`,
    `${((p50 * 1000) / units).toFixed(1)} µs a route`,
  ]);
}

function measureRequests(snapshot) {
  const folder = mkdtempSync(join(tmpdir(), 'weirgate-bench-'));
  try {
    const table = join(folder, 'table');
    writeFileSync(table, build(snapshot, FACTS, new SlotBook(), 1).compiled.table);
    const example = [
      'run',
      '--release',
      '--quiet',
      '--manifest-path',
      join(CLONE, 'native/Cargo.toml'),
      '-p',
      'engine',
    ];
    const output = execFileSync('cargo', [...example, '--example', 'request_speed', '--', table, String(LOOKUP_HOSTS)]);
    const { routeNs, countNs } = JSON.parse(output);
    rows.push([
      `route a request among ${LOOKUP_HOSTS.toLocaleString('en')} host names`,
      `${routeNs} ns`,
      'bar: 500 ns',
    ]);
    rows.push(['count a request (cells, gauges, cursors, close reason)', `${countNs} ns`, 'bar: 300 ns']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const thousand = files(ROUTES_A_FILE)[1];
await measure('admit the text of 1,000 routes', ROUTES_A_FILE, 20, () => {
  admitText(thousand.file, thousand.text);
});
for (const count of SIZES) {
  const snapshot = snapshotOf(count);
  await measure(`build ${count.toLocaleString('en')} routes`, count, count > 10_000 ? 3 : 10, () => {
    build(snapshot, FACTS, new SlotBook(), 1);
  });
  if (count === LOOKUP_HOSTS) measureRequests(snapshot);
}
process.stdout.write(
  `| what | median (extremes) | |\n|---|---|---|\n${rows.map((row) => `| ${row.join(' | ')} |\n`).join('')}`,
);
