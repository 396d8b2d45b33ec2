/**
 * Objects spoilt by machine. Every field of a good object is taken away, emptied, doubled, given another type, a number at a
 * boundary, an odd text or another word of its enumeration; a seed picks some of all these. The same seed gives the same objects.
 */

/** A generated object; the name says what was done to which field. */
export interface Generated {
  readonly name: string;
  readonly object: object;
}

type Container = Record<string | number, unknown>;

/** A field of an object, and what is done to it. */
interface Change {
  readonly says: string;
  readonly apply: (object: object) => void;
}

/** Texts at the boundaries of the patterns and lengths that fields have. */
const TEXTS: Readonly<Record<string, string>> = {
  'no text': '',
  'a space': ' ',
  'a capital letter': 'A',
  'a letter': 'a',
  'a star': '*',
  'a wildcard': '*.example.com',
  'a hyphen': '-',
  'a dot': '.',
  'a slash': '/',
  'a path': '/a/b',
  'an address': '192.0.2.1',
  'an IPv6 address': '2001:db8::1',
  'a duration': '10s',
  'no duration': '0s',
  'a word with a slash': 'example.com/a',
  'a letter beyond ASCII': 'é',
  'a line break': 'a\nb',
  '63 letters': 'a'.repeat(63),
  '64 letters': 'a'.repeat(64),
  '253 letters': 'a'.repeat(253),
  '254 letters': 'a'.repeat(254),
};

const NUMBERS: readonly number[] = [-1, 0, 1, 100, 101, 399, 600, 65_535, 65_536, 1_000_000, 1_000_001, 2 ** 31, 1.5];

/** Words of enumerations; each is wrong nearly everywhere and right somewhere. */
const WORDS: readonly string[] = [
  'HTTP',
  'TLS',
  'TCP',
  'Terminate',
  'Passthrough',
  'All',
  'Same',
  'None',
  'Selector',
  'Exact',
  'PathPrefix',
  'RegularExpression',
  'GET',
  'RequestMirror',
  'URLRewrite',
  'ExtensionRef',
  'ReplaceFullPath',
  'ReplacePrefixMatch',
  'Hostname',
  'IPAddress',
  'Cookie',
  'Header',
  'Permanent',
  'URI',
  'System',
  'IPv6',
  'Service',
];

const OTHER_TYPES: Readonly<Record<string, unknown>> = {
  'a number': 7,
  'a text': 'text',
  true: true,
  'a list': ['item'],
  'an object': { key: 'value' },
};

/** Returns `count` objects made from the bases; a fifth of them are changed in two places. Cost: linear in all fields. */
export function generate(bases: readonly object[], count: number, seed: number): readonly Generated[] {
  const random = randomNumbers(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const changes = bases.map((base) => ({ base, label: labelOf(base), fields: changesByField(base) }));
  const made = new Map<string, object>();
  while (made.size < count) {
    const { base, label, fields } = pick(changes);
    const chosen = Array.from({ length: random() < 0.2 ? 2 : 1 }, () => pick(pick(fields)));
    const name = `${label}: ${chosen.map(({ says }) => says).join(', ')}`;
    if (made.has(name)) continue;
    const object = structuredClone(base);
    for (const { apply } of chosen) apply(object);
    made.set(name, object);
  }
  return [...made].map(([name, object]) => ({ name, object }));
}

/** mulberry32: small, and the same numbers everywhere. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function labelOf(base: object): string {
  const { kind, metadata } = base as { kind: string; metadata: { name: string } };
  return `${kind} ${metadata.name}`;
}

/** All changes of each field below the base; apiVersion, kind and metadata have cases of their own. */
function changesByField(base: object): readonly (readonly Change[])[] {
  return Object.keys(base)
    .filter((key) => !['apiVersion', 'kind', 'metadata'].includes(key))
    .flatMap((key) => fieldChanges(base, [key]));
}

function fieldChanges(base: object, path: readonly (string | number)[]): readonly (readonly Change[])[] {
  const value = path.reduce<unknown>((at, step) => (at as Container)[step], base);
  const children = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  return [
    changesOf(path, value),
    ...children.flatMap((key) => fieldChanges(base, [...path, Array.isArray(value) ? Number(key) : key])),
  ];
}

function changesOf(path: readonly (string | number)[], value: unknown): readonly Change[] {
  const at = path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
  const last = path.at(-1) ?? '';
  const change = (what: string, alter: (parent: Container) => void): Change => ({
    says: `${at} ${what}`,
    apply: (object) => {
      // The other change of the pair may have taken the parent away.
      const parent = path
        .slice(0, -1)
        .reduce<unknown>((from, step) => (from as Container | null | undefined)?.[step], object);
      if (typeof parent === 'object' && parent !== null) alter(parent as Container);
    },
  });
  const becomes = (what: string, next: unknown): Change =>
    change(`is ${what}`, (parent) => {
      parent[last] = structuredClone(next);
    });
  const common = [
    change('taken away', (parent) => {
      if (Array.isArray(parent)) parent.splice(Number(last), 1);
      else delete parent[last];
    }),
    becomes('nothing', null),
    ...Object.entries(OTHER_TYPES).map(([what, other]) => becomes(what, other)),
  ];
  if (typeof value === 'string') {
    return [
      ...common,
      ...Object.entries(TEXTS).map(([what, text]) => becomes(what, text)),
      ...WORDS.map((word) => becomes(word, word)),
      becomes('in capitals', value.toUpperCase()),
      becomes('in small letters', value.toLowerCase()),
      becomes('with a space at its end', `${value} `),
    ];
  }
  if (typeof value === 'number')
    return [...common, ...NUMBERS.map((number) => becomes(String(number), number)), becomes('a text', String(value))];
  if (typeof value === 'boolean') return [...common, becomes('the opposite', !value)];
  if (Array.isArray(value)) {
    return [
      ...common,
      becomes('empty', []),
      becomes('with its first item twice', [...value, value[0]]),
      becomes(
        'with its first item 20 times',
        Array.from({ length: 20 }, () => value[0]),
      ),
      becomes(
        'with its first item 70 times',
        Array.from({ length: 70 }, () => value[0]),
      ),
      becomes('with nothing as an item', [...value, null]),
      becomes('backwards', [...value].reverse()),
    ];
  }
  return [...common, becomes('empty', {}), becomes('with an unknown field', { ...(value as object), unknownField: 1 })];
}
