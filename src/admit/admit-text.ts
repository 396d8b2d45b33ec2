/**
 * One file: text → admitted objects and diagnostics. What an API server does before it stores an object, and as it does it:
 * defaults, structure, rules. Pure; one bad object never harms the others.
 */
import type { Severity } from '../base/index.js';
import {
  apiVersionOf,
  type KindDefinition,
  type ObjectMeta,
  objectLabel,
  PositionWriter,
  type Resource,
  schemaOf,
  spanAt,
} from '../gateway-api/index.js';
import { complete } from './complete.js';
import { identify } from './identify.js';
import { MAX_FAULTS } from './limits.js';
import { LineMap } from './line-map.js';
import { plainValue } from './plain-value.js';
import { ValueReader } from './read-value.js';
import { FileReport } from './report.js';
import { brokenRules } from './rules/index.js';
import type { AdmittedFile, RefusedObject } from './snapshot.js';
import { readDocuments } from './yaml-document.js';
import { entryOf, faultsOf, textOf, type YamlMap, type YamlNode } from './yaml-node.js';

/**
 * Returns the objects of a file that are fit to be resolved, and what is wrong with the others.
 * `file` is only a name. Never throws for bad text. Cost: linear; 3,000 routes (840 kB) take about 0.4 s.
 */
export function admitText(file: string, text: string): AdmittedFile {
  const content = text.startsWith('\ufeff') ? text.slice(1) : text;
  const report = new FileReport(file, new LineMap(content));
  const admission = new FileAdmission(report);
  for (const document of readDocuments(content)) {
    if (document.ok) admission.document(document.root);
    else report.add('', document.fault.offset, document.fault);
  }
  return { file, resources: admission.resources, diagnostics: report.diagnostics, refused: admission.refused };
}

class FileAdmission {
  readonly resources: Resource[] = [];
  readonly refused: RefusedObject[] = [];
  readonly #report: FileReport;

  constructor(report: FileReport) {
    this.#report = report;
  }

  document(root: YamlNode): void {
    if (root.kind !== 'map') {
      const message = `a document must be an object with apiVersion and kind, not ${root.kind === 'sequence' ? 'a list' : 'a single value'}`;
      this.#report.add('', root.offset, {
        code: 'WG2001',
        message,
        hint: 'several objects are separated by lines with ---',
      });
      return;
    }
    if (isList(root)) this.#list(root);
    else this.#object(root);
  }

  #list(root: YamlMap): void {
    const items = entryOf(root, 'items');
    if (items === undefined) {
      this.#report.add('', root.offset, {
        code: 'WG2008',
        message: 'this List has no items',
        hint: 'add items, or remove it',
      });
      return;
    }
    if (items.value.kind === 'scalar' && items.value.value === null) return;
    if (items.value.kind !== 'sequence') {
      this.#report.add('', items.value.offset, {
        code: 'WG2008',
        path: 'items',
        message: 'items of a List must be a list',
        hint: 'begin each item with "- "',
      });
      return;
    }
    for (const item of items.value.items) this.document(item);
  }

  #object(root: YamlMap): void {
    const apiVersion = this.#word(root, 'apiVersion');
    const kind = this.#word(root, 'kind');
    if (apiVersion === undefined || kind === undefined) return;
    const identity = identify(apiVersion, kind);
    const metadata = entryOf(root, 'metadata')?.value;
    const name = (metadata?.kind === 'map' ? textOf(metadata, 'name') : undefined) ?? '';
    const namespace = (metadata?.kind === 'map' ? textOf(metadata, 'namespace') : undefined) ?? '';
    if (!identity.known) {
      const at = entryOf(root, identity.field)?.value.offset ?? root.offset;
      this.#report.add(name === '' ? kind : objectLabel(kind, namespace, name), at, {
        ...identity.remark,
        path: identity.field,
      });
      return;
    }
    const { definition, warning } = identity;
    const scope = definition.namespaced ? namespace || 'default' : '';
    const label = name === '' ? kind : objectLabel(kind, scope, name);
    if (warning !== undefined) {
      this.#report.add(label, entryOf(root, 'apiVersion')?.value.offset ?? root.offset, {
        ...warning,
        path: 'apiVersion',
      });
    }
    const version = apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
    const resource = this.#read(root, definition, version, label);
    if (resource !== undefined) this.resources.push(resource);
    else if (name !== '') this.refused.push({ kind: definition.kind, namespace: scope, name, ...this.#place(root) });
  }

  /** Returns the object when it is valid in itself. */
  #read(root: YamlMap, definition: KindDefinition, version: string, label: string): Resource | undefined {
    const faults = faultsOf(root);
    for (const fault of faults.slice(0, MAX_FAULTS)) this.#report.add(label, fault.offset, fault);
    this.#omit(root, label, faults.length - MAX_FAULTS, 'error');
    if (faults.length > 0) return undefined;
    const positions = new PositionWriter();
    const reader = new ValueReader(this.#report, positions, label);
    const { metadata, ...fields } = reader.readObject(schemaOf(definition, version), root);
    const status = entryOf(root, 'status');
    const resource = {
      ...fields,
      ...(status !== undefined && { status: plainValue(status.value) }),
      apiVersion: apiVersionOf(definition),
      kind: definition.kind,
      metadata: inNamespace((metadata ?? {}) as ObjectMeta, definition),
      file: this.#report.file,
      positions: positions.finish(),
    } as unknown as Resource;
    // Rules are judged even where a value is out of bounds, so that one run names all faults.
    const broken = reader.misfits > 0 ? [] : brokenRules(resource, version);
    const listed = broken.slice(0, Math.max(0, MAX_FAULTS - reader.errors));
    for (const rule of listed) this.#report.addAt(label, spanAt(resource, rule.path), rule);
    const isGood = reader.errors === 0 && broken.every(({ severity }) => severity === 'warning');
    this.#omit(root, label, reader.errors + broken.length - MAX_FAULTS, isGood ? 'warning' : 'error');
    return isGood ? complete(resource) : undefined;
  }

  /** To find the places of faults takes time, and nobody reads thousands of them. */
  #omit(root: YamlMap, label: string, count: number, severity: Severity): void {
    if (count <= 0) return;
    const message = `${count} more faults of this object are not listed`;
    this.#report.add(label, root.offset, {
      code: 'WG2110',
      severity,
      message,
      hint: 'correct those that are listed first',
    });
  }

  /** Returns the text of apiVersion or kind; without it nothing else can be judged. */
  #word(root: YamlMap, field: 'apiVersion' | 'kind'): string | undefined {
    const text = textOf(root, field);
    if (text !== undefined && text !== '') return text;
    const entry = entryOf(root, field);
    const message = entry === undefined ? `field "${field}" is missing` : `${field} must be text`;
    const hint =
      field === 'kind'
        ? 'every object names its kind, such as kind: HTTPRoute'
        : 'every object names its version, such as apiVersion: gateway.networking.k8s.io/v1';
    this.#report.add('', entry?.value.offset ?? root.offset, { code: 'WG2002', path: field, message, hint });
    return undefined;
  }

  #place(root: YamlMap): { readonly line: number; readonly column: number } {
    return this.#report.lines.place(root.offset);
  }
}

/** An empty namespace is the default one, as an API server has it. */
function inNamespace(metadata: ObjectMeta, { namespaced }: KindDefinition): ObjectMeta {
  return { ...metadata, namespace: namespaced ? metadata.namespace || 'default' : '' };
}

/** `kind: List` of the core group, or `HTTPRouteList` and the like of any group. */
function isList(root: YamlMap): boolean {
  const kind = textOf(root, 'kind');
  if (kind === 'List') return textOf(root, 'apiVersion') === 'v1';
  return kind?.endsWith('List') === true && entryOf(root, 'items') !== undefined && entryOf(root, 'spec') === undefined;
}
