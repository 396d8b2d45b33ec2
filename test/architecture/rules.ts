/**
 * The rules of ARCHITECTURE.md as functions from sources to violations; each message names file, line and rule.
 * Pure, so that the test can show each of them a sample that must fail.
 */
import { codeOnly, importsOf, type Sources, withoutComments } from './sources.js';

/** Layer of each room below `src/`; imports go to smaller numbers, or stay in the room. */
export const LAYERS: Readonly<Record<string, number>> = {
  base: 0,
  'gateway-api': 1,
  ir: 1,
  admit: 2,
  model: 2,
  resolve: 3,
  status: 4,
  lower: 4,
  compile: 4,
  explain: 4,
  native: 4,
  'pipeline.ts': 5,
  sources: 5,
  health: 5,
  ipc: 5,
  observe: 5,
  worker: 6,
  primary: 6,
  cli: 7,
};

const PURE_BELOW = 5;
const roomOf = (path: string): string => path.split('/')[1] ?? '';
/** Generated declarations hold constants only: whoever stands above `base` may read them. */
const layerOf = (path: string): number | undefined => (/\.gen\.ts$/.test(path) ? 1 : LAYERS[roomOf(path)]);

/** Places in the text where the pattern matches, as `path:line: …`. */
function findings(path: string, text: string, pattern: RegExp, message: (found: string) => string): string[] {
  return [...text.matchAll(new RegExp(pattern, pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`))].map(
    (match) => `${path}:${text.slice(0, match.index).split('\n').length}: ${message(match[0])}`,
  );
}

/** Every file of `src/` lies in a room with a layer and imports downwards only. `ir` imports nothing but `base`. */
export function layerViolations(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, text] of sources) {
    const layer = layerOf(path);
    if (layer === undefined) {
      found.push(`${path}: no room of ARCHITECTURE.md; give ${roomOf(path)} a layer or move the file`);
      continue;
    }
    for (const { target, isOurs, isEntry } of importsOf(path, text)) {
      if (!isOurs || isEntry || roomOf(target) === roomOf(path)) continue;
      const below = target.startsWith('src/') ? layerOf(target) : undefined;
      if (below === undefined || (below >= layer && roomOf(target) !== 'base')) {
        found.push(`${path}: imports ${target}, which is not below layer ${layer}`);
      } else if (roomOf(path) === 'ir' && roomOf(target) !== 'base') {
        found.push(`${path}: ir imports ${target}; it may import base only`);
      }
    }
  }
  return found;
}

const KUBERNETES =
  /kubernetes|k8s|(?:HTTP|Http|TCP|Tcp|TLS|Tls|UDP|Udp|GRPC|Grpc)Route|GatewayClass|(?<!Bad ?)Gateway(?! ?Timeout)(?:\b|Api)|[pP]arentRef|[bB]ackendRef|ReferenceGrant|EndpointSlice|ListenerSet|allowedRoutes|sectionName|apiVersion|observedGeneration|[nN]amespace/;

/** No room that the IR flows down to names a thing of Kubernetes, comments aside; nor does any Rust. */
export function kubernetesWords(sources: Sources): string[] {
  const below = new Set(['ir', 'compile', 'explain', 'native', 'worker']);
  return [...sources].flatMap(([path, text]) => {
    const rust = path.endsWith('.rs');
    if (!rust && !below.has(roomOf(path))) return [];
    const seen = withoutComments(
      rust ? text.replace(/#\[cfg\(test\)\]\s*mod \w+ \{[\s\S]*$/, '') : text,
      rust ? 'rust' : 'typescript',
    );
    return findings(path, seen, KUBERNETES, (word) => `"${word}" is a word of Kubernetes; the IR has another`);
  });
}

const OFFSETS =
  /\bDataView\b|\b[gs]et(?:Big)?U?[Ii]nt(?:8|16|32|64)\b|\b(?:read|write)(?:Big)?U?[Ii]nt(?:8|16|32|64)(?:LE|BE)?\b/;
/** How many there are of a thing is no offset: MAX_WORKERS, SLOT_CELLS. */
const COUNT = /^(?:MAX_\w+|\w+_CELLS(?:_FIRST)?)$/;
const LAYOUT_IMPORT = /\{([^}]*)\}\s*from\s*['"][^'"]*layout\.gen\.js['"]/g;

/** Only `compile` and `native` know where a byte of a shared layout lies; counts of the layout are open to all. */
export function byteOffsets(sources: Sources): string[] {
  const found: string[] = [];
  const complaint = (word: string): string => `"${word}": byte offsets belong to compile/ and native/`;
  for (const [path, text] of sources) {
    if (['compile', 'native'].includes(roomOf(path))) continue;
    found.push(...findings(path, codeOnly(text, 'typescript'), OFFSETS, complaint));
    for (const [, names] of withoutComments(text, 'typescript').matchAll(LAYOUT_IMPORT)) {
      const words = (names ?? '').split(',').map((name) => name.trim());
      found.push(
        ...words.filter((word) => word !== '' && !COUNT.test(word)).map((word) => `${path}: ${complaint(word)}`),
      );
    }
  }
  return found;
}

const IMPURE =
  /\bawait\b|\basync\b|\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\b|\bprocess\b|\bset(?:Timeout|Interval|Immediate)\b|\bMath\.random\b|\bfetch\s*\(|\bPromise\b/;
const PURE_BUILTINS = new Set(['node:module', 'node:url', 'node:net', 'node:util', 'node:crypto']);

/** Layers 0 to 4 and pipeline.ts wait for nothing and read no clock, file or environment. */
export function impurities(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, text] of sources) {
    if ((layerOf(path) ?? 0) >= PURE_BELOW && path !== 'src/pipeline.ts') continue;
    found.push(...findings(path, codeOnly(text, 'typescript'), IMPURE, (word) => `"${word}" in the functional core`));
    for (const { target } of importsOf(path, text)) {
      if (target.startsWith('node:') && !PURE_BUILTINS.has(target))
        found.push(`${path}: imports ${target} into the functional core`);
    }
  }
  return found;
}

const SERVERS = /\bcreate(?:Secure)?Server\b|\bnew (?:\w+\.)?Server\b|\bcreateSocket\b|\bBun\.|\bDeno\.|\.listen\s*\(/;

/** JavaScript serves nobody but the admin socket. */
export function javascriptServers(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) =>
    /^src\/primary\/admin/.test(path)
      ? []
      : findings(
          path,
          codeOnly(text, 'typescript'),
          SERVERS,
          (word) => `"${word}": only src/primary/admin may serve from JavaScript`,
        ),
  );
}

/** No `unsafe` outside engine/src/sys. */
export function unsafeRust(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) =>
    path.startsWith('native/crates/engine/src/sys/')
      ? []
      : findings(path, codeOnly(text, 'rust'), /\bunsafe\b/, () => 'unsafe belongs to engine/src/sys'),
  );
}

/** Which crates of ours each crate may depend on. */
export const CRATES: Readonly<Record<string, readonly string[]>> = {
  'native/Cargo.toml': ['engine', 'session', 'proto', 'table'],
  'native/crates/engine/Cargo.toml': ['session', 'proto', 'table'],
  'native/crates/session/Cargo.toml': ['proto', 'table'],
  'native/crates/proto/Cargo.toml': [],
  'native/crates/table/Cargo.toml': [],
  'native/xtask/Cargo.toml': ['session', 'proto', 'table'],
  'native/fuzz/Cargo.toml': ['session', 'proto', 'table'],
};

const OURS = ['engine', 'session', 'proto', 'table', 'weirgate-native', 'xtask'];
const REFUSED = ['tokio', 'mio', 'hyper', 'h2', 'async-std', 'smol', 'anyhow', 'arc-swap', 'regex'];

/** Rust crates depend in one direction, and on no async runtime. */
export function crateViolations(manifests: Sources): string[] {
  const found: string[] = [];
  for (const [path, text] of manifests) {
    const allowed = CRATES[path];
    if (allowed === undefined) {
      found.push(`${path}: unknown crate; give it a place in test/architecture/rules.ts`);
      continue;
    }
    const sections = text.split(/^(?=\[)/m).filter((section) => /^\[(?:target\..*\.)?dependencies/.test(section));
    const names = sections.flatMap((section) =>
      [...section.matchAll(/^([\w-]+)(?:\.workspace)?\s*=/gm)].map((match) => match[1] as string),
    );
    for (const name of names) {
      if (OURS.includes(name) && !allowed.includes(name))
        found.push(`${path}: depends on ${name}, which is not below it`);
      if (REFUSED.includes(name)) found.push(`${path}: depends on ${name}, which has no place in the data plane`);
    }
  }
  return found;
}

/** Packages and files that a program loads at run time, started from one file. */
export function loadedFrom(entry: string, sources: Sources): ReadonlySet<string> {
  const loaded = new Set<string>();
  const visit = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    const text = sources.get(path);
    if (text === undefined) return;
    for (const { target, typeOnly, isEntry } of importsOf(path, text)) if (!typeOnly && !isEntry) visit(target);
  };
  visit(entry);
  return loaded;
}

/** Files longer than the limit usually hold two nouns. Generated ones may be as long as they need. */
export function longFiles(sources: Sources, mostLines: number): string[] {
  return [...sources]
    .filter(([path]) => !/\.gen\.\w+$/.test(path))
    .map(([path, text]) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > mostLines)
    .map(({ path, lines }) => `${path}: ${lines} lines, at most ${mostLines}`);
}

/** Every file says in its first lines what lives there; every exported function and class has a docstring. */
export function undocumented(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, text] of sources) {
    const rust = path.endsWith('.rs');
    if (!text.replace(/^#!.*\n/, '').startsWith(rust ? '//!' : '/**') && !/\.gen\.ts$/.test(path))
      found.push(`${path}: no header that says what lives here`);
    if (rust) continue;
    const lines = text.split('\n');
    lines.forEach((line, i) => {
      if (/^export (?:async |abstract )*(?:function|class)\b/.test(line) && !lines[i - 1]?.trimEnd().endsWith('*/')) {
        found.push(`${path}:${i + 1}: no docstring: ${line}`);
      }
    });
  }
  return found;
}
