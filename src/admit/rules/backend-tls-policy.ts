/**
 * Rules of BackendTLSPolicy: targets, authorities, names.
 */
import type { BackendTLSPolicy } from '../../gateway-api/index.js';
import { eachItem, eachMisplacedField, eachRepeated, type Rule, type Violate } from './rule.js';

type Target = BackendTLSPolicy['spec']['targetRefs'][number];

function objectKey({ group, kind, name }: Target): string {
  return `${group} ${kind} ${name}`;
}

function checkTargetParts(policy: BackendTLSPolicy, violate: Violate): void {
  const first = new Map<string, Target>();
  eachItem(policy.spec.targetRefs, 'spec.targetRefs', (target, path) => {
    const before = first.get(objectKey(target));
    if (before === undefined) first.set(objectKey(target), target);
    else if ((before.sectionName === undefined) !== (target.sectionName === undefined)) {
      violate(
        path,
        `${target.kind} "${target.name}" is named more than once, not always with sectionName`,
        'give each of these references a sectionName, or keep one',
      );
    }
  });
}

function checkTargetsDistinct(policy: BackendTLSPolicy, violate: Violate): void {
  const key = (target: Target): string => `${objectKey(target)} ${target.sectionName ?? ''}`;
  eachRepeated(policy.spec.targetRefs, 'spec.targetRefs', key, ({ kind, name }, path, firstPath) => {
    violate(path, `the same part of ${kind} "${name}" is named twice`, `${firstPath} names it already; remove one`);
  });
}

function checkAuthorities(policy: BackendTLSPolicy, violate: Violate): void {
  const { caCertificateRefs, wellKnownCACertificates } = policy.spec.validation;
  const path = 'spec.validation';
  if (caCertificateRefs !== undefined && wellKnownCACertificates !== undefined) {
    violate(path, 'caCertificateRefs and wellKnownCACertificates exclude each other', 'keep one of them');
  }
  if (caCertificateRefs === undefined && wellKnownCACertificates === undefined) {
    violate(
      path,
      'nothing says which authorities are trusted',
      'add caCertificateRefs, or wellKnownCACertificates: System',
    );
  }
}

const NAME_FIELDS = [
  ['Hostname', 'hostname'],
  ['URI', 'uri'],
] as const;

function checkNames(policy: BackendTLSPolicy, violate: Violate): void {
  eachItem(policy.spec.validation.subjectAltNames, 'spec.validation.subjectAltNames', (name, path) => {
    eachMisplacedField(name, name.type, NAME_FIELDS, (type, field, isPresent) => {
      const at = `${path}.${field}`;
      if (isPresent) violate(at, `${field} belongs to type ${type}`, `remove it, or write type: ${type}`);
      else violate(at, `type ${type} needs the field ${field}`, `add ${field}`);
    });
  });
}

/** The rules of BackendTLSPolicy. */
export const BACKEND_TLS_POLICY_RULES: readonly Rule<BackendTLSPolicy>[] = [
  { code: 'WG3701', says: 'references to one target all have a sectionName or none', check: checkTargetParts },
  { code: 'WG3702', says: 'no part of a target is named twice', check: checkTargetsDistinct },
  { code: 'WG3703', says: 'authorities are named in one way', check: checkAuthorities },
  { code: 'WG3704', says: 'a subject alternative name has the field of its type and no other', check: checkNames },
];
