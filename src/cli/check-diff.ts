/**
 * `weirgate check --diff`: what a reload would change against the objects of the running instance. Pure.
 */
import { childPath, compareStrings } from '../base/index.js';
import { objectLabel } from '../gateway-api/index.js';
import type { ListedObject } from '../ipc/admin-protocol.js';
import type { ReportedChange } from './check-report.js';

type Field = ReportedChange['fields'][number];

/** More differing fields of one object are not listed. */
const MAX_FIELDS = 20;

/** Returns the objects that differ between the running instance and the files, sorted. Status does not count. */
export function diffObjects(running: readonly ListedObject[], checked: readonly ListedObject[]): ReportedChange[] {
  const before = byLabel(running);
  const after = byLabel(checked);
  const changes: ReportedChange[] = [];
  for (const [object, now] of after) {
    const then = before.get(object);
    if (then === undefined) changes.push({ object, change: 'added', fields: [] });
    else {
      const fields: Field[] = [];
      collectFields(comparable(then), comparable(now), '', fields);
      if (fields.length > 0) changes.push({ object, change: 'changed', fields: fields.slice(0, MAX_FIELDS) });
    }
  }
  for (const object of before.keys()) {
    if (!after.has(object)) changes.push({ object, change: 'removed', fields: [] });
  }
  return changes.sort((a, b) => compareStrings(a.object, b.object));
}

function byLabel(objects: readonly ListedObject[]): ReadonlyMap<string, ListedObject> {
  return new Map(
    objects.map((object) => [objectLabel(object.kind, object.metadata.namespace ?? '', object.metadata.name), object]),
  );
}

/** What the file says: status and generation are made by the instance. */
function comparable(object: ListedObject): unknown {
  const { status, metadata, ...rest } = object;
  const { generation, ...meta } = metadata;
  return { ...rest, metadata: meta };
}

function collectFields(before: unknown, after: unknown, path: string, fields: Field[]): void {
  if (isRecord(before) && isRecord(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort(compareStrings);
    for (const key of keys) collectFields(ownValue(before, key), ownValue(after, key), childPath(path, key), fields);
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    for (let index = 0; index < length; index++) {
      collectFields(before[index], after[index], childPath(path, index), fields);
    }
    return;
  }
  const [was, is] = [JSON.stringify(before) ?? '', JSON.stringify(after) ?? ''];
  if (was !== is) fields.push({ path, before: was, after: is });
}

/** Annotations may be named after what every object has, such as `constructor`. */
function ownValue(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
