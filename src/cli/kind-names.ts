/**
 * Kinds as people type them: `gateway`, `gateways`, `gw`, `HTTPRoute`, `routes`. Pure. Serves `status.ts` and `explain-field.ts`.
 */
import { nearestWord } from '../admit/index.js';
import { err, ok, type Result } from '../base/index.js';
import { KINDS } from '../gateway-api/index.js';

const ROUTES = ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute'];

/** Words for more than one kind, and short names that people use beside the official ones. */
const EXTRA: readonly (readonly [word: string, kinds: readonly string[]])[] = [
  ['gw', ['Gateway']],
  ['route', ROUTES],
  ['routes', ROUTES],
  ['policies', ['BackendPolicy', 'BackendTLSPolicy']],
];

const WORDS: ReadonlyMap<string, readonly string[]> = new Map([
  ...KINDS.flatMap(({ kind, plural, shortNames, group }) => {
    const official = [kind.toLowerCase(), plural];
    const qualified = group === '' ? [] : official.map((word) => `${word}.${group}`);
    return [...official, ...qualified, ...shortNames].map((word) => [word, [kind]] as const);
  }),
  ...EXTRA,
]);

/** Words that mean what Gateways and ListenerSets have, not those themselves. */
const LISTENER_WORDS: ReadonlySet<string> = new Set(['listener', 'listeners']);

/** What somebody wants to see. */
export interface KindsWanted {
  /** `undefined` stands for every kind. */
  readonly kinds: readonly (string | undefined)[];
  /** The listeners of these kinds, not the objects. */
  readonly listeners: boolean;
}

/** Returns what somebody wants to see who types this: kinds, or `listeners`. */
export function parseWanted(text: string): Result<KindsWanted, string> {
  if (LISTENER_WORDS.has(text.toLowerCase())) return ok({ kinds: ['Gateway', 'ListenerSet'], listeners: true });
  const kinds = parseKinds(text);
  return kinds.ok ? ok({ kinds: kinds.value, listeners: false }) : kinds;
}

/** Returns the kinds that the words mean, commas between several: `gateways,routes`. */
export function parseKinds(text: string): Result<string[], string> {
  const kinds: string[] = [];
  for (const word of text.split(',')) {
    const found = WORDS.get(word.toLowerCase());
    if (found === undefined) {
      const near = nearestWord(word, [...WORDS.keys()]);
      const known = KINDS.map(({ kind }) => kind.toLowerCase()).join(', ');
      return err(`"${word}" is no kind; ${near === undefined ? `kinds are ${known}` : `did you mean ${near}?`}`);
    }
    kinds.push(...found.filter((kind) => !kinds.includes(kind)));
  }
  return ok(kinds);
}
