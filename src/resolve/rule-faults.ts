/**
 * Faults of rules: what keeps a rule from working, and what that means for its route.
 * A rule with a fault keeps its place and answers 500: nobody gets what is behind the next rule by accident.
 * Sources: HTTPRoute.spec.rules, RouteConditionPartiallyInvalid and RouteConditionAccepted.
 */
import type { DiagnosticCode } from '../base/index.js';
import type { GRPCRoute, HTTPRoute } from '../gateway-api/index.js';
import { CODES } from './codes.js';
import { type Findings, isFalse, isTrue } from './findings.js';

export type RuleFault = UnservedField | InvalidField;

/** Something that is right and that the data plane lacks. */
export interface UnservedField {
  readonly kind: 'unserved';
  /** Field path in the route. */
  readonly path: string;
  /** Completes "it asks for …". */
  readonly what: string;
}

/** Something that no data plane could carry out. */
export interface InvalidField {
  readonly kind: 'invalid';
  readonly code: DiagnosticCode;
  readonly reason: 'UnsupportedValue' | 'IncompatibleFilters';
  /** Field path in the route. */
  readonly path: string;
  /** A sentence that names the field. */
  readonly message: string;
  /** What would be right. */
  readonly hint: string;
}

/** What is judged of each rule. */
export interface JudgedRule {
  /** In the order of the fields. */
  readonly faults: readonly RuleFault[];
}

interface Verdict {
  readonly code: DiagnosticCode;
  readonly reason: InvalidField['reason'];
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

/**
 * Returns whether the route is accepted: it has no rules, or at least one works. Rules that do not work are told on every parent
 * that takes the route, by its index in `takenBy`.
 */
export function judgeRules(
  route: HTTPRoute | GRPCRoute,
  rules: readonly JudgedRule[],
  takenBy: readonly number[],
  findings: Findings,
): boolean {
  const isAccepted = rules.length === 0 || rules.some(({ faults }) => faults.length === 0);
  for (const [index, { faults }] of rules.entries()) {
    for (const verdict of verdictsOf(faults, index, isAccepted)) report(route, verdict, isAccepted, takenBy, findings);
  }
  return isAccepted;
}

/** Most invalid fields of one rule that are told: each is told on every parent, and a rule may have thousands. */
const MAX_INVALID = 8;

/** What the data plane lacks is told in one sentence, each invalid field in its own. */
function verdictsOf(faults: readonly RuleFault[], index: number, isAccepted: boolean): Verdict[] {
  const verdicts: Verdict[] = [];
  const unserved = faults.filter((fault) => fault.kind === 'unserved');
  const first = unserved[0];
  if (first !== undefined) {
    const asked = [...new Set(unserved.map(({ what }) => what))].join(', ');
    verdicts.push({
      code: CODES.ruleDropped,
      reason: 'UnsupportedValue',
      path: first.path,
      message: `Dropped Rule ${index}: it asks for ${asked}, which this version does not carry out`,
      hint: isAccepted ? 'requests that it matches are answered with 500' : '',
    });
  }
  const invalid = faults.filter((fault) => fault.kind === 'invalid');
  for (const [place, fault] of invalid.slice(0, MAX_INVALID).entries()) {
    const more = place === MAX_INVALID - 1 && invalid.length > MAX_INVALID ? invalid.length - MAX_INVALID : 0;
    const message = `Dropped Rule ${index}: ${fault.message}${more > 0 ? `; and ${more} more` : ''}`;
    verdicts.push({ ...fault, message });
  }
  return verdicts;
}

function report(
  route: HTTPRoute | GRPCRoute,
  { code, reason, path, message, hint }: Verdict,
  isAccepted: boolean,
  takenBy: readonly number[],
  findings: Findings,
): void {
  const condition = isAccepted ? isTrue('PartiallyInvalid', 'UnsupportedValue') : isFalse('Accepted', reason);
  if (takenBy.length === 0) findings.add(route, { code, severity: 'error', path, message, hint });
  for (const [place, index] of takenBy.entries()) {
    const severity = place === 0 ? 'error' : 'summary';
    findings.add(route, { code, severity, subject: { kind: 'parent', index }, condition, path, message, hint });
  }
}
