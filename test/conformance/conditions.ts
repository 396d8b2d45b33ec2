/**
 * The conditions that golden cases show, beside the list of those that the Gateway API has. `conditions.yaml` is the list; this file
 * reads both and finds what one of them lacks.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A condition that an object of a kind may have. */
export interface ConditionEntry {
  /** GatewayClass, Gateway, Listener, ListenerEntry (of a ListenerSet), ListenerSet, Route, BackendTLSPolicy. */
  readonly owner: string;
  readonly type: string;
  /** `status/reason`. */
  readonly value: string;
  readonly meaning: string;
  /** Why nothing leads to it; `undefined`: something does. */
  readonly never: string | undefined;
}

/** Golden cases by the condition that they show, as `owner type value`. */
export type Shown = ReadonlyMap<string, readonly string[]>;

type Meaning = string | { readonly never: string };
type Conditions = 'ok' | Readonly<Record<string, string>>;

/** Kinds of ours: their conditions are not the API's. */
const OWN = new Set(['Backend', 'BackendPolicy']);

/** Returns the entries of a list's text, in its order. */
export function parseConditions(text: string): readonly ConditionEntry[] {
  const list = parse(text) as Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Meaning>>>>>>;
  return Object.entries(list).flatMap(([owner, types]) =>
    Object.entries(types).flatMap(([type, values]) =>
      Object.entries(values).map(([value, meaning]) =>
        typeof meaning === 'string'
          ? { owner, type, value, meaning, never: undefined }
          : { owner, type, value, meaning: '', never: meaning.never },
      ),
    ),
  );
}

/** Returns the key of a condition in `Shown`. */
export function keyOf({ owner, type, value }: Pick<ConditionEntry, 'owner' | 'type' | 'value'>): string {
  return `${owner} ${type} ${value}`;
}

/** Returns what the status files below a folder of golden cases show, apart from what everybody wants. */
export function readShown(golden: string): Shown {
  const shown = new Map<string, string[]>();
  for (const name of readdirSync(golden).sort()) {
    const path = join(golden, name, 'status.yaml');
    if (!existsSync(path)) continue;
    for (const key of new Set(conditionsIn(parse(readFileSync(path, 'utf8')) ?? {}))) {
      const cases = shown.get(key) ?? [];
      cases.push(name);
      shown.set(key, cases);
    }
  }
  return shown;
}

/** Returns the keys of all conditions of a rendered status; see test/support/render.ts for its form. */
function conditionsIn(status: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(status).flatMap(([object, body]) => {
    const kind = object.slice(0, object.indexOf(' '));
    if (OWN.has(kind)) return [];
    const owner = kind.endsWith('Route') ? 'Route' : kind;
    if (Array.isArray(body)) {
      return body.flatMap((entry) => Object.values(entry as Record<string, Conditions>)).flatMap(keysOf(owner));
    }
    if (kind !== 'Gateway' && kind !== 'ListenerSet') return keysOf(owner)(body as Conditions);
    const { conditions, listeners } = body as { conditions: Conditions; listeners: Record<string, Conditions> };
    const entry = kind === 'Gateway' ? 'Listener' : 'ListenerEntry';
    return [...keysOf(owner)(conditions), ...Object.values(listeners).flatMap(keysOf(entry))];
  });
}

function keysOf(owner: string): (conditions: Conditions) => string[] {
  return (conditions) =>
    conditions === 'ok'
      ? []
      : Object.entries(conditions).map(([type, text]) => keyOf({ owner, type, value: text.split(':')[0] ?? '' }));
}
