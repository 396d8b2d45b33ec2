/**
 * Rules for the path values of HTTPRoute matches of type Exact and PathPrefix.
 */
import type { HTTPPathMatch, HTTPRoute } from '../../gateway-api/index.js';
import { eachItem, type Rule, type Violate } from './rule.js';

const LEGAL = /^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})*$/;

/** What a path may not contain, and what to do about it. */
const FORBIDDEN: readonly (readonly [RegExp, string, string])[] = [
  [/\/\//, 'contains "//"', 'write a single "/"'],
  [/\/\.\//, 'contains "/./"', 'write the path as requests have it, without dot segments'],
  [/\/\.\.\//, 'contains "/../"', 'write the path as requests have it, without dot segments'],
  [/%2f/i, 'contains an encoded slash', 'an encoded "/" cannot be matched'],
  [/#/, 'contains "#"', 'fragments never reach a server'],
  [/\/\.\.$/, 'ends with "/.."', 'write the path as requests have it, without dot segments'],
  [/\/\.$/, 'ends with "/."', 'write the path as requests have it, without dot segments'],
];

function checkPath({ type, value }: HTTPPathMatch, path: string, violate: Violate): void {
  if (type === 'RegularExpression') return;
  if (!value.startsWith('/')) violate(path, `path "${value}" does not begin with "/"`, `write "/${value}"`);
  for (const [pattern, fault, remedy] of FORBIDDEN) {
    if (pattern.test(value)) violate(path, `path "${value}" ${fault}`, remedy);
  }
  if (!LEGAL.test(value.replaceAll('#', ''))) {
    violate(
      path,
      `path "${value}" contains characters that no path has`,
      'percent-encode them (a space is %20); "?" and query go to queryParams',
    );
  }
}

function checkPaths(route: HTTPRoute, violate: Violate): void {
  eachItem(route.spec.rules, 'spec.rules', (rule, rulePath) => {
    eachItem(rule.matches, `${rulePath}.matches`, (match, matchPath) =>
      checkPath(match.path, `${matchPath}.path.value`, violate),
    );
  });
}

/** The rules about paths. */
export const HTTP_PATH_RULES: readonly Rule<HTTPRoute>[] = [
  { code: 'WG3301', says: 'a path is absolute, normal and legal', check: checkPaths },
];
