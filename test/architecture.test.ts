/**
 * Holds the layers and absences of ARCHITECTURE.md. Every rule is first shown a sample that breaks it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  byteOffsets,
  CRATES,
  crateViolations,
  impurities,
  javascriptServers,
  kubernetesWords,
  layerViolations,
  loadedFrom,
  longFiles,
  undocumented,
  unsafeRust,
} from './architecture/rules.js';
import { codeOnly, importsOf, readSources, type Sources, tokens } from './architecture/sources.js';
import { CASES } from './cases.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MOST_LINES = 500;

const typescript = readSources(ROOT, ['src'], ['.ts']);
const rust = readSources(ROOT, ['native'], ['.rs']);
const engineCode: Sources = new Map([...rust].filter(([path]) => !/\/(?:tests|benches)\//.test(path)));
const manifests: Sources = new Map(
  Object.keys(CRATES)
    .concat([...readSources(ROOT, ['native'], ['Cargo.toml']).keys()])
    .filter((path) => existsSync(join(ROOT, path)))
    .map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]),
);
const sample = (path: string, text: string): Sources => new Map([[path, text]]);

describe('the reader of sources', () => {
  it('tells comments and literals from code, in both languages', () => {
    const ts = "const a = 'await'; // await\n/* await */ const r = /'/; const b = `await`; wait();";
    expect(codeOnly(ts, 'typescript')).not.toContain('await');
    expect(codeOnly(ts, 'typescript')).toContain('wait();');
    const rs = "fn f<'a>(x: &'a str) { /* unsafe */ let c = '\"'; let s = r#\"unsafe \" \"#; g(b'\\''); } // unsafe";
    expect(codeOnly(rs, 'rust')).not.toContain('unsafe');
    expect(codeOnly(rs, 'rust')).toContain("fn f<'a>(x: &'a str)");
  });

  it('loses no character of any file', () => {
    for (const [, text] of typescript)
      expect(
        tokens(text, 'typescript')
          .map((t) => t.text)
          .join(''),
      ).toBe(text);
    for (const [, text] of rust)
      expect(
        tokens(text, 'rust')
          .map((t) => t.text)
          .join(''),
      ).toBe(text);
  });

  it('sees static, multi-line, dynamic, re-exported and required imports, and those that are types only', () => {
    const text = `import a from './a.js';\nimport {\n  b,\n  c,\n} from '../b/b.js';\nexport * from './d.js';\nimport type { E } from './e.js';
      import { type F } from './f.js';\nconst g = await import('./g.js'); require('pino/file');\nnew URL('./h.js', import.meta.url);\nimport './i.js'; // import './no.js'`;
    expect(importsOf('src/x/x.ts', text).map((i) => `${i.target}${i.typeOnly ? ' (type)' : ''}`)).toEqual([
      'src/x/a.ts',
      'src/b/b.ts',
      'src/x/d.ts',
      'src/x/e.ts (type)',
      'src/x/f.ts (type)',
      'src/x/g.ts',
      'pino',
      'src/x/h.ts',
      'src/x/i.ts',
    ]);
  });
});

describe('layers', () => {
  it.each([
    ['upwards', 'src/resolve/a.ts', "import { lower } from '../lower/lower.js';"],
    ['sideways', 'src/status/a.ts', "import { lower } from '../lower/lower.js';"],
    ['from ir to anything but base', 'src/ir/a.ts', "import { kinds } from '../gateway-api/kinds.js';"],
    ['by a type', 'src/base/a.ts', "import type { Ir } from '../ir/ir.js';"],
    ['out of src', 'src/base/a.ts', "import { x } from '../../test/cases.js';"],
    ['in a room that has no layer', 'src/utils/a.ts', ''],
  ])('an import %s is found', (_, path, text) => {
    expect(layerViolations(sample(path, text))).toHaveLength(1);
  });

  it('imports go to smaller numbers only', () => {
    expect(layerViolations(typescript)).toEqual([]);
  });

  it('a worker loads neither pino nor gateway-api, not even through others', () => {
    const nested: Sources = new Map([
      ['src/worker/main.ts', "import { a } from '../observe/a.js';"],
      ['src/observe/a.ts', "import pino from 'pino';"],
    ]);
    expect(loadedFrom('src/worker/main.ts', nested)).toContain('pino');
    const entry = 'src/worker/main.ts';
    expect(typescript.has(entry)).toBe(true);
    const loaded = [...loadedFrom(entry, typescript)];
    expect(loaded.filter((name) => name === 'pino' || name.startsWith('src/gateway-api/'))).toEqual([]);
  });

  it('crates depend in one direction and on no async runtime', () => {
    expect(
      crateViolations(
        sample('native/crates/proto/Cargo.toml', '[dependencies]\nengine.workspace = true\ntokio = "1"\n'),
      ),
    ).toHaveLength(2);
    expect(crateViolations(sample('native/crates/new/Cargo.toml', ''))).toHaveLength(1);
    expect(crateViolations(manifests)).toEqual([]);
  });
});

describe('the five absences', () => {
  it('no word of Kubernetes below lower', () => {
    expect(kubernetesWords(sample('src/compile/a.ts', 'const parentRefs = 1; const k = "HTTPRoute";'))).toHaveLength(2);
    expect(
      kubernetesWords(sample('native/src/lib.rs', 'struct Gateway; // Gateway\nconst S: &str = "502 Bad Gateway";')),
    ).toHaveLength(1);
    expect(kubernetesWords(new Map([...typescript, ...engineCode]))).toEqual([]);
  });

  it('byte offsets only in compile and native', () => {
    expect(byteOffsets(sample('src/primary/a.ts', 'new DataView(b).setUint32(4, 1, true)'))).toHaveLength(2);
    const layout = sample(
      'src/primary/a.ts',
      "import { MAX_SLOTS, SLOT_CELLS, HEADER } from '../native/layout.gen.js';",
    );
    expect(byteOffsets(layout)).toHaveLength(1);
    expect(byteOffsets(typescript)).toEqual([]);
  });

  it('nothing in layers 0 to 4 nor in pipeline.ts awaits, or reads a clock, a file or the environment', () => {
    const text =
      "import fs from 'node:fs';\nexport const a = async () => { await x; return Date.now() + process.pid; };";
    expect(impurities(sample('src/resolve/a.ts', text))).toHaveLength(5);
    expect(impurities(sample('src/pipeline.ts', 'process.env.X'))).toHaveLength(1);
    expect(impurities(sample('src/primary/a.ts', text))).toEqual([]);
    expect(impurities(typescript)).toEqual([]);
  });

  it('no unsafe outside engine/src/sys', () => {
    expect(unsafeRust(sample('native/src/lib.rs', 'fn f() { unsafe { g() } }'))).toHaveLength(1);
    expect(unsafeRust(sample('native/crates/engine/src/sys/a.rs', 'unsafe fn f() {}'))).toEqual([]);
    expect(unsafeRust(rust)).toEqual([]);
  });

  it('no JavaScript serves anybody but the admin socket', () => {
    expect(javascriptServers(sample('src/worker/a.ts', 'http.createServer(f).listen(80)'))).toHaveLength(2);
    expect(javascriptServers(typescript)).toEqual([]);
  });
});

describe('upkeep', () => {
  it('generated files are what their generator prints', () => {
    const arguments_ = [
      'run',
      '--quiet',
      '--manifest-path',
      join(ROOT, 'native/Cargo.toml'),
      '-p',
      'xtask',
      '--',
      'check',
    ];
    expect(() => execFileSync('cargo', arguments_, { stdio: 'pipe' })).not.toThrow();
  }, 600_000);

  it(`no file of ours is longer than ${MOST_LINES} lines`, () => {
    expect(longFiles(sample('src/a.ts', 'x\n'.repeat(MOST_LINES + 1)), MOST_LINES)).toHaveLength(1);
    const all = readSources(ROOT, ['src', 'native', 'test', 'bench', 'config'], ['.ts', '.rs', '.mjs', '.py', '.c']);
    expect(longFiles(all, MOST_LINES)).toEqual([]);
  });

  it('every file has a header, every exported function and class a docstring', () => {
    expect(undocumented(sample('src/base/a.ts', 'export function f() {}'))).toHaveLength(2);
    expect(undocumented(new Map([...typescript, ...rust]))).toEqual([]);
  });

  it('every incident case is covered by a test that exists or waits for an issue', () => {
    expect(CASES.map((c) => c.id)).toEqual(Array.from({ length: 24 }, (_, i) => `H${i + 1}`));
    for (const { id, coveredBy, waitsFor } of CASES) {
      expect(coveredBy.length > 0 || waitsFor !== undefined, `${id} is forgotten`).toBe(true);
      for (const { file, text } of coveredBy) {
        expect(
          existsSync(join(ROOT, file)) && readFileSync(join(ROOT, file), 'utf8').includes(text),
          `${id}: "${text}" in ${file}`,
        ).toBe(true);
      }
    }
  });
});
