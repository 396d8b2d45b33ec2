/**
 * Field paths as people write them: `spec.rules[0].name`, `metadata.annotations["example.com/owner"]`.
 */

/** A map key or field name, or the index of a list item. */
export type PathSegment = string | number;

const PLAIN_NAME = /^[A-Za-z_$][A-Za-z0-9_$-]*$/;
const SEGMENT = /\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|\.?([^.[\]]+)/y;

/** Returns the path of a member of `parent`: `child('spec', 'rules')` is `spec.rules`. */
export function childPath(parent: string, segment: PathSegment): string {
  if (typeof segment === 'number') return `${parent}[${segment}]`;
  if (!PLAIN_NAME.test(segment)) return `${parent}[${JSON.stringify(segment)}]`;
  return parent === '' ? segment : `${parent}.${segment}`;
}

/** Splits a path into its segments. Text that is no path gives the segments up to the first fault. */
export function parseFieldPath(path: string): PathSegment[] {
  const segments: PathSegment[] = [];
  SEGMENT.lastIndex = 0;
  while (SEGMENT.lastIndex < path.length) {
    const match = SEGMENT.exec(path);
    if (match === null) break;
    if (match[1] !== undefined) segments.push(Number(match[1]));
    else if (match[2] !== undefined) segments.push(JSON.parse(`"${match[2]}"`) as string);
    else segments.push(match[3] ?? '');
  }
  return segments;
}
