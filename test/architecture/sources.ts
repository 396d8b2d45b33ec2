/**
 * Reads source text the way the rules need it: files by path, comments and literals told apart from code, imports.
 * No judgement here. Serves the architecture test.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

/** Repository path (`src/ir/ir.ts`) → text. */
export type Sources = ReadonlyMap<string, string>;

const NEVER_READ = new Set(['node_modules', 'target', 'dist', '.git']);

/** Returns all files below the folders whose names end so; paths are relative to the root. */
export function readSources(root: string, folders: readonly string[], endings: readonly string[]): Sources {
  const found = new Map<string, string>();
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!NEVER_READ.has(entry.name)) visit(path);
      } else if (endings.some((ending) => entry.name.endsWith(ending))) {
        found.set(relative(root, path), readFileSync(path, 'utf8'));
      }
    }
  };
  for (const folder of folders) visit(join(root, folder));
  return found;
}

export type Language = 'typescript' | 'rust';

interface Token {
  readonly kind: 'code' | 'comment' | 'literal';
  readonly text: string;
}

const COMMON = String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`;
const TOKENS: Readonly<Record<Language, RegExp>> = {
  // Comments, quoted strings, templates (their expressions count as literal), regular expressions behind an operator.
  typescript: new RegExp(
    String.raw`(${COMMON})|('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\x60(?:\\[\s\S]|[^\x60\\])*\x60|(?<=[=(,:;!&|?{}[\n]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*)`,
    'g',
  ),
  // Raw strings first; a quote is a character literal only when it closes, else a lifetime.
  rust: new RegExp(
    String.raw`(${COMMON})|(b?r(#*)"[\s\S]*?"\3|b?"(?:\\[\s\S]|[^"\\])*"|b?'(?:\\[^']+|\\'|[^'\\])')`,
    'g',
  ),
};

/** Cuts a text into code, comments and literals; joined again they are the text. */
export function tokens(text: string, language: Language): Token[] {
  const found: Token[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKENS[language])) {
    found.push({ kind: 'code', text: text.slice(end, match.index) });
    found.push({ kind: match[1] === undefined ? 'literal' : 'comment', text: match[0] });
    end = match.index + match[0].length;
  }
  found.push({ kind: 'code', text: text.slice(end) });
  return found;
}

const keepLines = (text: string): string => text.replace(/[^\n]/g, ' ');

/** The text with comments blanked out; lines keep their numbers. */
export function withoutComments(text: string, language: Language): string {
  return tokens(text, language)
    .map((token) => (token.kind === 'comment' ? keepLines(token.text) : token.text))
    .join('');
}

/** The text with comments and literals blanked out; lines keep their numbers. */
export function codeOnly(text: string, language: Language): string {
  return tokens(text, language)
    .map((token) => (token.kind === 'code' ? token.text : keepLines(token.text)))
    .join('');
}

export interface Import {
  /** Repository path for a file of ours, else the package or builtin: `pino`, `node:fs`. */
  readonly target: string;
  readonly isOurs: boolean;
  /** Gone after compilation. */
  readonly typeOnly: boolean;
  /** Named as a file to be started as a thread or process of its own: `new URL('./task.js', import.meta.url)`. */
  readonly isEntry: boolean;
}

const IMPORT =
  /\b(?:import|export)\s+(type\s+)?(?:[\w*\s{},$]+?\s+from\s+)?['"]([^'"]+)['"]|\bimport\s*\(\s*['"]([^'"]+)['"]|\brequire\s*\(\s*['"]([^'"]+)['"]|\bnew URL\(\s*['"](\.[^'"]+)['"]\s*,\s*import\.meta\.url/g;

const packageName = (specifier: string): string =>
  specifier.startsWith('node:')
    ? specifier
    : specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/');

/** Returns what a TypeScript file imports: static, dynamic, re-exported, required, or named as an entry. */
export function importsOf(path: string, text: string): Import[] {
  return [...withoutComments(text, 'typescript').matchAll(IMPORT)].map((match) => {
    const specifier = (match[2] ?? match[3] ?? match[4] ?? match[5]) as string;
    const typeOnly = match[1] !== undefined || /^(?:import|export)\s*\{(?:\s*type\s[^,}]+,?)+\s*\}/.test(match[0]);
    const isEntry = match[5] !== undefined;
    if (!specifier.startsWith('.')) return { target: packageName(specifier), isOurs: false, typeOnly, isEntry };
    const target = normalize(join(dirname(path), specifier)).replace(/\.js$/, '.ts');
    return { target, isOurs: true, typeOnly, isEntry };
  });
}
