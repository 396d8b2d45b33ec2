/**
 * All files together: an object that is there twice is refused wherever it stands, since nobody can say which one is meant.
 */
import {
  compareDiagnostics,
  compareSpans,
  compareStrings,
  type Diagnostic,
  firstDifference,
  formatSpan,
  type SourceSpan,
} from '../base/index.js';
import { objectLabel, type Resource, spanAt } from '../gateway-api/index.js';
import type { AdmittedFile, Snapshot } from './snapshot.js';

interface Claim {
  readonly resource: Resource | undefined;
  readonly span: SourceSpan;
  readonly label: string;
}

/**
 * Returns the objects of all files. The result does not depend on the order of the files.
 * Cost: O(objects × log objects).
 */
export function admitSnapshot(files: readonly AdmittedFile[]): Snapshot {
  const claims = claimsByObject(files);
  const resources: Resource[] = [];
  const refused = new Set<string>();
  const diagnostics: Diagnostic[] = files.flatMap((file) => file.diagnostics);
  for (const [label, claimants] of claims) {
    const [first] = claimants;
    // A folder may hold thousands of copies: each names a few others, and arguments of one call are no place for all of them.
    if (claimants.length > 1) {
      const inOrder = [...claimants].sort((a, b) => compareSpans(a.span, b.span));
      for (const claim of inOrder) diagnostics.push(duplicate(claim, inOrder));
    }
    if (claimants.length > 1 || first?.resource === undefined) refused.add(label);
    else resources.push(first.resource);
  }
  return { resources: resources.sort(compareResources), refused, diagnostics: diagnostics.sort(compareDiagnostics) };
}

/** Orders objects by kind, namespace and name. */
export function compareResources(a: Resource, b: Resource): number {
  return firstDifference(
    compareStrings(a.kind, b.kind),
    compareStrings(a.metadata.namespace, b.metadata.namespace),
    compareStrings(a.metadata.name, b.metadata.name),
  );
}

function claimsByObject(files: readonly AdmittedFile[]): ReadonlyMap<string, readonly Claim[]> {
  const claims = new Map<string, Claim[]>();
  const add = (label: string, claim: Claim): void => {
    const known = claims.get(label);
    if (known === undefined) claims.set(label, [claim]);
    else known.push(claim);
  };
  for (const { file, resources, refused } of files) {
    for (const resource of resources) {
      const label = objectLabel(resource.kind, resource.metadata.namespace, resource.metadata.name);
      add(label, { resource, span: spanAt(resource, ''), label });
    }
    for (const { kind, namespace, name, line, column } of refused) {
      const label = objectLabel(kind, namespace, name);
      add(label, { resource: undefined, span: { file, line, column }, label });
    }
  }
  return claims;
}

/** Most other places that a duplicate names. */
const MAX_PLACES = 3;

function duplicate(claim: Claim, claimants: readonly Claim[]): Diagnostic {
  const others = claimants.slice(0, MAX_PLACES + 1).filter((other) => other !== claim);
  const shown = others.slice(0, MAX_PLACES).map(({ span }) => formatSpan(span));
  const more = claimants.length - 1 - shown.length;
  if (more > 0) shown.push(`${more} more places`);
  return {
    severity: 'error',
    code: 'WG3001',
    object: claim.label,
    path: 'metadata.name',
    message: `${claim.label} is defined more than once; none of them is used`,
    hint: `also in ${shown.join(', ')}; remove or rename all but one`,
    span: claim.resource === undefined ? claim.span : spanAt(claim.resource, 'metadata.name'),
  };
}
