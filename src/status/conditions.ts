/**
 * Conditions: what findings become in a status, and how they keep their transition times.
 */
import type { Finding, FindingCondition } from '../model/finding.js';

/** A condition without the time at which it came about. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
}

/** Longest message that the API takes. */
const MAX_MESSAGE = 32_768;

const HALF_CHARACTERS = /\p{Surrogate}/gu;

/** Most findings whose messages one condition tells. */
const MAX_MESSAGES = 8;

/**
 * Returns the conditions of one list: those of `usual` in their order, then others that findings set.
 * The first finding about a type decides its status and reason; later ones of the same status add their message.
 */
export function mergeConditions(
  usual: readonly FindingCondition[],
  findings: readonly Finding[],
  observedGeneration: number,
): readonly Condition[] {
  if (findings.length === 0) return undisturbed(usual, observedGeneration);
  const decisive = new Map<string, FindingCondition & { readonly messages: string[] }>();
  for (const { condition, message } of findings) {
    if (condition === undefined) continue;
    const first = decisive.get(condition.type);
    if (first === undefined) decisive.set(condition.type, { ...condition, messages: [message] });
    else if (first.status === condition.status) first.messages.push(message);
  }
  const types = new Set([...usual.map(({ type }) => type), ...decisive.keys()]);
  const byType = new Map(usual.map((condition) => [condition.type, condition]));
  return [...types].flatMap((type) => {
    const found = decisive.get(type);
    const chosen = found ?? byType.get(type);
    if (chosen === undefined) return [];
    const { status, reason } = chosen;
    return [{ type, status, reason, message: joinMessages(found?.messages ?? []), observedGeneration }];
  });
}

/** Most lists of 100,000 routes are equal: one array stands for all that share kind and generation. */
const UNDISTURBED = new WeakMap<readonly FindingCondition[], Map<number, readonly Condition[]>>();

function undisturbed(usual: readonly FindingCondition[], observedGeneration: number): readonly Condition[] {
  let byGeneration = UNDISTURBED.get(usual);
  if (byGeneration === undefined) {
    byGeneration = new Map();
    UNDISTURBED.set(usual, byGeneration);
  }
  let conditions = byGeneration.get(observedGeneration);
  if (conditions === undefined) {
    conditions = usual.map((condition) => ({ ...condition, message: '', observedGeneration }));
    byGeneration.set(observedGeneration, conditions);
  }
  return conditions;
}

function joinMessages(messages: readonly string[]): string {
  const distinct = [...new Set(messages)];
  const shown = distinct.slice(0, MAX_MESSAGES);
  if (distinct.length > shown.length) shown.push(`and ${distinct.length - shown.length} more`);
  // What users wrote, and the cut, may leave half a character, which no API server stores.
  return shown.join('; ').slice(0, MAX_MESSAGE).replace(HALF_CHARACTERS, '\ufffd');
}
