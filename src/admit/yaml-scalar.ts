/**
 * The meaning of a plain scalar by the YAML 1.2 core schema (§10.3.2): `no` and `1:30` are text, `~` is null.
 */

const INTEGER = /^[-+]?[0-9]+$/;
const OCTAL = /^0o[0-7]+$/;
const HEXADECIMAL = /^0x[0-9a-fA-F]+$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const INFINITE = /^[-+]?\.(?:inf|Inf|INF)$/;

const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ['', null],
  ['~', null],
  ['null', null],
  ['Null', null],
  ['NULL', null],
  ['true', true],
  ['True', true],
  ['TRUE', true],
  ['false', false],
  ['False', false],
  ['FALSE', false],
]);

/** Returns what unquoted text stands for. */
export function plainValue(text: string): string | number | boolean | null {
  const word = text.length <= 5 ? WORDS.get(text) : undefined;
  if (word !== undefined) return word;
  const first = text.charCodeAt(0);
  const numeric = (first >= 0x30 && first <= 0x39) || first === 0x2d || first === 0x2b || first === 0x2e;
  if (!numeric) return text;
  if (INTEGER.test(text) || FLOAT.test(text)) return Number(text);
  if (OCTAL.test(text) || HEXADECIMAL.test(text)) return Number(text);
  if (INFINITE.test(text)) return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return text === '.nan' || text === '.NaN' || text === '.NAN' ? Number.NaN : text;
}

/** Returns what a scalar with an explicit tag stands for; undefined when the text does not fit the tag or nobody knows the tag. */
export function taggedValue(tag: string, text: string): string | number | boolean | null | undefined {
  if (tag === '!' || tag === '!!str') return text;
  const value = plainValue(text);
  if (tag === '!!null') return value === null ? null : undefined;
  if (tag === '!!bool') return typeof value === 'boolean' ? value : undefined;
  if (tag === '!!int') return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
  if (tag === '!!float') return typeof value === 'number' ? value : undefined;
  return undefined;
}
