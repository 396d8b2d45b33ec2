/**
 * All files together: an object that is there twice is refused wherever it stands, since nobody can say which one is meant.
 */
import {
  compareDiagnostics,
  compareSpans,
  compareStrings,
  type Diagnostic,
  formatSpan,
  type SourceSpan,
} from '../base/index.js';
import { objectLabel, type Resource, spanAt } from '../gateway-api/index.js';
import type { AdmittedFile, RefusedObject, Snapshot } from './snapshot.js';

/** An object of a file, admitted or not. */
interface Claim {
  readonly source: AdmittedFile;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly object: Resource | RefusedObject;
}

/** The claims of the files of the last time, for a caller that comes again with most of them. Belongs to one thread; never changes a result. */
export class SnapshotMemo {
  /** Sorted. */
  claims: readonly Claim[] = [];
  files: ReadonlySet<AdmittedFile> = new Set();
}

/**
 * Returns the objects of all files. The result does not depend on the order of the files.
 * Cost: O(objects × log objects) for files that are not the very same as the last time, O(objects) for the others.
 */
export function admitSnapshot(files: readonly AdmittedFile[], memo: SnapshotMemo = new SnapshotMemo()): Snapshot {
  const claims = sortedClaims(files, memo);
  const resources: Resource[] = [];
  const refused = new Set<string>();
  const diagnostics: Diagnostic[] = [];
  for (const file of files) for (const diagnostic of file.diagnostics) diagnostics.push(diagnostic);
  for (let at = 0, end = 0; at < claims.length; at = end) {
    const claim = claims[at] as Claim;
    for (end = at + 1; end < claims.length && compareClaims(claim, claims[end] as Claim) === 0; ) end += 1;
    if (end === at + 1 && isResource(claim.object)) {
      resources.push(claim.object);
      continue;
    }
    refused.add(labelOf(claim));
    if (end > at + 1) for (const diagnostic of duplicates(claims.slice(at, end))) diagnostics.push(diagnostic);
  }
  return { resources, refused, diagnostics: diagnostics.sort(compareDiagnostics) };
}

function sortedClaims(files: readonly AdmittedFile[], memo: SnapshotMemo): readonly Claim[] {
  const present = new Set(files);
  const added = files.filter((file) => !memo.files.has(file)).flatMap(claimsOf);
  const kept = memo.claims.filter(({ source }) => present.has(source));
  memo.claims = mergeClaims(kept, added.sort(compareClaims));
  memo.files = present;
  return memo.claims;
}

function claimsOf(source: AdmittedFile): Claim[] {
  return [
    ...source.resources.map((object): Claim => claimOf(source, object.kind, object.metadata, object)),
    ...source.refused.map((object): Claim => claimOf(source, object.kind, object, object)),
  ];
}

function claimOf(
  source: AdmittedFile,
  kind: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  object: Claim['object'],
): Claim {
  return { source, kind, namespace, name, object };
}

/** Orders objects by kind, namespace and name. */
function compareClaims(a: Claim, b: Claim): number {
  return compareStrings(a.kind, b.kind) || compareStrings(a.namespace, b.namespace) || compareStrings(a.name, b.name);
}

/** Merges two sorted lists. */
function mergeClaims(kept: readonly Claim[], added: readonly Claim[]): readonly Claim[] {
  if (added.length === 0) return kept;
  if (kept.length === 0) return added;
  const merged: Claim[] = [];
  let next = 0;
  for (const claim of kept) {
    for (let first = added[next]; first !== undefined && compareClaims(first, claim) < 0; first = added[next]) {
      merged.push(first);
      next += 1;
    }
    merged.push(claim);
  }
  for (; next < added.length; next += 1) merged.push(added[next] as Claim);
  return merged;
}

/** Most other places that a duplicate names. */
const MAX_PLACES = 3;

/** One fault for each place, naming a few others: a folder may hold thousands of copies. */
function duplicates(claims: readonly Claim[]): Diagnostic[] {
  const inOrder = claims
    .map((claim) => ({ claim, span: spanOf(claim, '') }))
    .sort((a, b) => compareSpans(a.span, b.span));
  return inOrder.map(({ claim }) => {
    const others = inOrder.slice(0, MAX_PLACES + 1).filter((other) => other.claim !== claim);
    const shown = others.slice(0, MAX_PLACES).map(({ span }) => formatSpan(span));
    const more = claims.length - 1 - shown.length;
    if (more > 0) shown.push(`${more} more places`);
    const label = labelOf(claim);
    return {
      severity: 'error',
      code: 'WG3001',
      object: label,
      path: 'metadata.name',
      message: `${label} is defined more than once; none of them is used`,
      hint: `also in ${shown.join(', ')}; remove or rename all but one`,
      span: spanOf(claim, 'metadata.name'),
    };
  });
}

/** Returns where a field stands; of an object that was refused, where the object does. */
function spanOf({ source: { file }, object }: Claim, path: string): SourceSpan {
  if (isResource(object)) return spanAt(object, path);
  const { line, column } = object;
  return { file, line, column };
}

function isResource(object: Claim['object']): object is Resource {
  return 'positions' in object;
}

function labelOf({ kind, namespace, name }: Claim): string {
  return objectLabel(kind, namespace, name);
}
