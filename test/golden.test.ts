/**
 * One loop over test/golden: every folder is a sentence about the rules, `input.yaml` (with `facts.yaml`, if the host is not the
 * usual one) is its question, the other files are the answer. `UPDATE_GOLDEN=1` rewrites the answers: read the diff.
 * A case is judged for a data plane that can do everything, unless its facts say `dataPlane: shipped`.
 * The quick start and every example are questions too; their answers are in `config-*`.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Plan } from '../src/pipeline.js';
import type { Facts } from '../src/resolve/index.js';
import { buildFiles, planFiles } from './support/build.js';
import { renderDiagnostics, renderStatus } from './support/render.js';
import { renderIr } from './support/render-ir.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GOLDEN = join(ROOT, 'test/golden');
const BASE = 'base.yaml';
const isUpdate = process.env.UPDATE_GOLDEN === '1';

const cases = readdirSync(GOLDEN, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(join(GOLDEN, entry.name, 'input.yaml')))
  .map(({ name }) => name);

/** `files` are files below test/golden that belong to the case as well, such as certificates. */
type CaseFacts = Partial<Facts> & { readonly dataPlane?: 'complete' | 'shipped'; readonly files?: readonly string[] };

describe('golden cases', () => {
  it.each(cases)('%s', (name) => {
    const folder = join(GOLDEN, name);
    const {
      dataPlane = 'complete',
      files: shared = [],
      ...facts
    } = existsSync(join(folder, 'facts.yaml')) ? (parse(read(join(folder, 'facts.yaml'))) as CaseFacts) : {};
    const files = {
      ...Object.fromEntries([BASE, ...shared].map((file) => [file, read(join(GOLDEN, file))])),
      'input.yaml': read(join(folder, 'input.yaml')),
    };
    const result = dataPlane === 'shipped' ? buildFiles(files, facts) : planFiles(files, facts);
    compare(folder, result, isOfCase);
  });
});

describe('configurations that we ship', () => {
  const shipped = [
    ['quickstart', yamlFiles('config/quickstart')] as const,
    ...yamlFiles('config/examples').map((file) => [file.replace(/^.*\/|\.yaml$/g, ''), [file]] as const),
  ];
  it.each(shipped)('%s', (name, paths) => {
    const files = Object.fromEntries(paths.map((path) => [path, read(join(ROOT, path))]));
    const result = buildFiles(files);
    expect(renderDiagnostics(result)).toBe('');
    compare(join(GOLDEN, `config-${name}`), result, () => true);
  });
});

function compare(folder: string, result: Plan, isShown: (object: string) => boolean): void {
  const { status, ir } = result;
  const answers = {
    'status.yaml': renderStatus(status.filter(({ kind, namespace, name }) => isShown(`${kind} ${namespace}/${name}`))),
    'ir.txt': renderIr(ir),
    'diagnostics.txt': renderDiagnostics(result),
  };
  for (const [file, answer] of Object.entries(answers)) {
    const path = join(folder, file);
    if (isUpdate) update(folder, path, answer);
    expect(existsSync(path) ? read(path) : '', path).toBe(answer);
  }
}

/** An empty answer is no file. */
function update(folder: string, path: string, answer: string): void {
  if (answer === '') {
    rmSync(path, { force: true });
    return;
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, answer);
}

/** The objects of `base.yaml` are in every case, so their status says nothing about one. */
function isOfCase(object: string): boolean {
  return !['GatewayClass /weirgate', 'Backend default/a', 'Backend default/b'].includes(object);
}

function yamlFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => `${folder}/${name}`);
}

function read(path: string): string {
  return readFileSync(path, 'utf8');
}
