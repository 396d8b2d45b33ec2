/**
 * YAML tree → value of a schema: types, limits, formats and defaults in one pass, with all faults, not only the first.
 * `null` counts as absent, as in an API server. Unknown fields are faults, as with strict field validation.
 */
import { childPath, type PathSegment } from '../base/index.js';
import {
  type AnySchema,
  type ArrayNode,
  FORMATS,
  type IntegerNode,
  type MapNode,
  type ObjectNode,
  type PositionWriter,
  type StringNode,
  type UnionNode,
} from '../gateway-api/index.js';
import { MAX_FAULTS } from './limits.js';
import type { FileReport, Remark } from './report.js';
import { nearestWord, quotedList } from './suggest.js';
import type { YamlEntry, YamlMap, YamlNode, YamlScalar, YamlSequence } from './yaml-node.js';

/** A field whose value is refused or dropped. */
const NOTHING = Symbol('nothing');

/** More fields than this are not listed in a hint. */
const LISTED_FIELDS = 12;

/** More lines than this are not listed either. */
const LISTED_LINES = 5;

/** Largest number of a field without a limit of its own: the API has 32 bits for it. */
const MAX_INT32 = 2_147_483_647;

/** Stands for an object that is not there. */
const EMPTY: YamlMap = { kind: 'map', entries: [], offset: 0, faults: [], faultCount: 0, size: 1 };

/** Reads one object of a file. */
export class ValueReader {
  readonly #report: FileReport;
  readonly #positions: PositionWriter;
  readonly #object: string;
  readonly #path: PathSegment[] = [];
  /** Faults of this object so far. */
  errors = 0;
  /** Those of them that leave a value of the wrong type, or none: rules cannot look at such an object. */
  misfits = 0;

  constructor(report: FileReport, positions: PositionWriter, object: string) {
    this.#report = report;
    this.#positions = positions;
    this.#object = object;
  }

  /** Returns the value of the object. It fits the schema only if `errors` is still 0, and at least its types if `misfits` is. */
  readObject(schema: AnySchema, node: YamlMap): Readonly<Record<string, unknown>> {
    const place = this.#report.lines.place(node.offset);
    this.#positions.add(0, '', undefined, place);
    if (schema.type !== 'object') throw new Error('WEIRGATE_BUG the schema of a kind is an object');
    return this.#fields(schema, node, node.offset);
  }

  /** `at` is where a fault of the value as a whole is shown: its key, or the list item. */
  #value(schema: AnySchema, node: YamlNode, at: number): unknown {
    switch (schema.type) {
      case 'unchecked':
        if (schema.shape !== undefined) this.#value(schema.shape, node, at);
        return NOTHING;
      case 'string':
        return node.kind === 'scalar' && typeof node.value === 'string'
          ? this.#string(schema, node.value, node.offset)
          : this.#wrongType(node, 'text', schema);
      case 'enum':
        if (node.kind !== 'scalar' || typeof node.value !== 'string') return this.#wrongType(node, 'text', schema);
        if (schema.values.includes(node.value)) return node.value;
        if (schema.open !== true) this.misfits++;
        return this.#notOneOf(schema.values, node.value, node.offset);
      case 'integer':
        return node.kind === 'scalar' && typeof node.value === 'number'
          ? this.#integer(schema, node, node.value)
          : this.#wrongType(node, 'a whole number', schema);
      case 'boolean':
        return node.kind === 'scalar' && typeof node.value === 'boolean'
          ? node.value
          : this.#wrongType(node, 'true or false', schema);
      case 'array':
        return node.kind === 'sequence' ? this.#array(schema, node, at) : this.#wrongType(node, 'a list', schema);
      case 'map':
        return node.kind === 'map' ? this.#map(schema, node, at) : this.#wrongType(node, 'a map', schema);
      case 'object':
        if (schema.absentIsEmpty === true && isNull(node)) return this.#fields(schema, EMPTY, at);
        return node.kind === 'map' ? this.#fields(schema, node, at) : this.#wrongType(node, 'an object', schema);
      case 'union':
        return this.#union(schema, node, at);
    }
  }

  #string(schema: StringNode, text: string, offset: number): unknown {
    const { minLength = 0, maxLength, format } = schema;
    if (text.length < minLength) {
      const message = text === '' ? 'must not be empty' : `must have at least ${minLength} characters`;
      return this.#kept(text, offset, { code: 'WG2106', message, hint: schema.doc });
    }
    // UTF-16 units are never fewer than code points, so only long texts are counted.
    if (maxLength !== undefined && text.length > maxLength) {
      const length = [...text].length;
      if (length > maxLength) {
        const message = `must have at most ${maxLength} characters, has ${length}`;
        return this.#misfit(offset, { code: 'WG2106', message, hint: `remove ${length - maxLength}` });
      }
    }
    if (format !== undefined && !FORMATS[format].test(text)) {
      return this.#kept(text, offset, {
        code: 'WG2107',
        message: `${schema.secret === true ? 'the text' : quote(text)} is not valid here`,
        hint: `must be ${FORMATS[format].wants}`,
      });
    }
    return text;
  }

  #integer(schema: IntegerNode, node: YamlScalar, value: number): unknown {
    const { min = -MAX_INT32 - 1, max = MAX_INT32, values } = schema;
    if (!Number.isSafeInteger(value)) return this.#wrongType(node, 'a whole number', schema);
    if (values !== undefined && !values.includes(value)) {
      this.misfits++;
      return this.#notOneOf(values, value, node.offset);
    }
    if (value >= min && value <= max) return value;
    const range = max >= MAX_INT32 && value < min ? `at least ${min}` : `between ${min} and ${max}`;
    const hint = `must be ${range}`;
    return this.#kept(value, node.offset, { code: 'WG2105', message: `${value} is out of range`, hint });
  }

  #array(schema: ArrayNode, node: YamlSequence, at: number): unknown {
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
    const count = node.items.length;
    if (count < minItems || count > maxItems) this.#wrongCount(['item', 'items'], count, schema, at);
    const values: unknown[] = [];
    const kept: YamlNode[] = [];
    for (const [index, item] of node.items.entries()) {
      this.#path.push(index);
      this.#positions.add(this.#path.length, index, undefined, this.#report.lines.place(item.offset));
      const value = this.#value(schema.items, item, item.offset);
      this.#path.pop();
      if (value === NOTHING) continue;
      values.push(value);
      kept.push(item);
    }
    if (schema.listType !== 'atomic' && values.length > 1) this.#checkUnique(schema, values, kept);
    return values;
  }

  #checkUnique(schema: ArrayNode, values: readonly unknown[], nodes: readonly YamlNode[]): void {
    const places = new Map<string, number[]>();
    for (const [index, value] of values.entries()) {
      const parts = schema.listType === 'set' ? [value] : schema.keys.map((key) => memberOf(value, key));
      const identity = JSON.stringify(parts);
      const known = places.get(identity);
      if (known === undefined) places.set(identity, [index]);
      else known.push(index);
    }
    for (const [first = 0, again = 0, ...more] of places.values()) {
      if (again === 0) continue;
      const value = values[first];
      const what =
        schema.listType === 'set'
          ? quote(value)
          : schema.keys.map((key) => `${key} ${quote(memberOf(value, key))}`).join(', ');
      const lineOf = (index: number): number => this.#report.lines.place(nodes[index]?.offset ?? 0).line;
      const lines = more.slice(0, LISTED_LINES).map(lineOf).join(', ');
      this.#path.push(again);
      this.#fault(nodes[again]?.offset ?? 0, {
        code: 'WG2109',
        message: `${what} is there ${more.length === 0 ? 'twice' : `${more.length + 2} times`}`,
        hint: `the first one is in line ${lineOf(first)}${lines && `, more are in line ${lines}`}; each may occur once`,
      });
      this.#path.pop();
    }
  }

  #map(schema: MapNode, node: YamlMap, at: number): unknown {
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, keyFormat, emptyForNull = false } = schema;
    const entries = emptyForNull ? node.entries : node.entries.filter(({ value }) => !isNull(value));
    if (entries.length < minItems || entries.length > maxItems) {
      this.#wrongCount(['entry', 'entries'], entries.length, schema, at);
    }
    const values: Record<string, unknown> = {};
    for (const entry of entries) {
      this.#enter(entry);
      if (keyFormat !== undefined && !FORMATS[keyFormat].test(entry.key)) {
        this.#fault(entry.keyOffset, {
          code: 'WG2107',
          message: `key ${quote(entry.key)} is not valid here`,
          hint: `must be ${FORMATS[keyFormat].wants}`,
        });
      }
      const value = isNull(entry.value) ? '' : this.#value(schema.values, entry.value, entry.keyOffset);
      if (value !== NOTHING) setOwn(values, entry.key, value);
      this.#path.pop();
    }
    return values;
  }

  #fields(schema: ObjectNode, node: YamlMap, at: number): Readonly<Record<string, unknown>> {
    const names = fieldNames(schema);
    const written: (YamlEntry | undefined)[] = new Array(names.length).fill(undefined);
    const unknown: YamlEntry[] = [];
    for (const entry of node.entries) {
      const index = fieldIndex(schema).get(entry.key);
      if (index === undefined) unknown.push(entry);
      else written[index] = entry;
    }
    const absent = names.filter((_, index) => written[index] === undefined);
    for (const entry of unknown) this.#unknownField(entry, absent, schema);
    const values: Record<string, unknown> = {};
    for (let index = 0; index < names.length; index++) {
      const name = names[index] ?? '';
      const field = schema.fields[name] as AnySchema;
      const entry = written[index];
      if (entry === undefined || isNull(entry.value) || (field.emptyIsAbsent === true && isEmptyText(entry.value))) {
        if (field.presence === 'defaulted') values[name] = field.default;
        else if (field.type === 'object' && field.absentIsEmpty === true) {
          this.#path.push(name);
          values[name] = this.#fields(field, EMPTY, entry?.keyOffset ?? at);
          this.#path.pop();
        } else if (field.presence === 'required') {
          const zero = schema.absentIsEmpty === true ? ZEROS[field.type] : undefined;
          if (zero !== undefined) values[name] = zero;
          else this.misfits++;
          this.#missing(name, field, entry, unknown, at);
        }
        continue;
      }
      if (field.type === 'unchecked' && field.shape === undefined) continue;
      this.#enter(entry);
      const value = this.#value(field, entry.value, entry.keyOffset);
      this.#path.pop();
      if (value !== NOTHING) values[name] = value;
    }
    return values;
  }

  #union(schema: UnionNode, node: YamlNode, at: number): unknown {
    const yamlType = node.kind === 'scalar' ? typeof node.value : node.kind;
    const fitting = schema.variants.find((variant) => UNION_TYPES[variant.type] === yamlType);
    if (fitting !== undefined) return this.#value(fitting, node, at);
    return this.#wrongType(node, schema.variants.map((variant) => variant.doc).join(' or '), schema);
  }

  #enter(entry: YamlEntry): void {
    this.#path.push(entry.key);
    const { lines } = this.#report;
    this.#positions.add(this.#path.length, entry.key, lines.place(entry.keyOffset), lines.place(entry.value.offset));
  }

  #missing(
    name: string,
    field: AnySchema,
    entry: YamlEntry | undefined,
    unknown: readonly YamlEntry[],
    at: number,
  ): void {
    const typo = nearestWord(
      name,
      unknown.map(({ key }) => key),
    );
    const hint = typo === undefined ? `add ${name}: ${field.doc}` : `${quote(typo)} may be meant as ${quote(name)}`;
    const message = entry === undefined ? `field "${name}" is missing` : `field "${name}" is empty`;
    this.#path.push(name);
    this.#fault(entry?.keyOffset ?? at, { code: 'WG2102', message, hint });
    this.#path.pop();
  }

  #unknownField(entry: YamlEntry, absent: readonly string[], schema: ObjectNode): void {
    const names = fieldNames(schema);
    const near = nearestWord(entry.key, absent) ?? nearestWord(entry.key, names);
    const listed = names.length <= LISTED_FIELDS ? `fields here are ${names.join(', ')}` : 'remove it';
    const slip = near === undefined ? listed : `did you mean ${quote(near)}?`;
    const former = Object.hasOwn(schema.former ?? {}, entry.key) ? schema.former?.[entry.key] : undefined;
    this.#path.push(entry.key);
    this.#fault(entry.keyOffset, {
      code: 'WG2101',
      message: `unknown field ${quote(entry.key)}`,
      hint: former ?? slip,
    });
    this.#path.pop();
  }

  #wrongCount([one, many]: readonly [string, string], count: number, schema: ArrayNode | MapNode, at: number): void {
    const { minItems = 0, maxItems = count } = schema;
    const bound = count < minItems ? minItems : maxItems;
    const wanted = minItems === maxItems ? 'exactly' : count < minItems ? 'at least' : 'at most';
    const remark: Remark = {
      code: 'WG2108',
      message:
        count === 0 ? 'must not be empty' : `must have ${wanted} ${bound} ${bound === 1 ? one : many}, has ${count}`,
      hint: count > bound ? `remove ${count - bound}` : schema.doc,
    };
    if (count < minItems) this.#fault(at, remark);
    else this.#misfit(at, remark);
  }

  #notOneOf(values: readonly (string | number)[], value: string | number, offset: number): string | number {
    const near = typeof value === 'string' ? nearestWord(value, values.map(String)) : undefined;
    return this.#kept(value, offset, {
      code: 'WG2104',
      message: `${quote(value)} is not one of ${quotedList(values)}`,
      hint: near === undefined ? 'write one of them; case matters' : `did you mean ${quote(near)}?`,
    });
  }

  #wrongType(node: YamlNode, wanted: string, schema: AnySchema): typeof NOTHING {
    const shown = isSecret(schema) ? hidden(node) : node;
    return this.#misfit(node.offset, {
      code: 'WG2103',
      message: `must be ${wanted}, not ${describe(shown)}`,
      hint: remedy(shown, schema),
    });
  }

  #fault(offset: number, remark: Remark): void {
    this.errors++;
    if (this.errors > MAX_FAULTS) return;
    this.#report.add(this.#object, offset, { ...remark, path: this.#currentPath() });
  }

  /** A fault that leaves the value to the rules: it has the right type. */
  #kept<T>(value: T, offset: number, remark: Remark): T {
    this.#fault(offset, remark);
    return value;
  }

  #misfit(offset: number, remark: Remark): typeof NOTHING {
    this.misfits++;
    this.#fault(offset, remark);
    return NOTHING;
  }

  #currentPath(): string {
    return this.#path.reduce<string>(childPath, '');
  }
}

/** What Go has in place of a missing number or list. */
const ZEROS: Partial<Record<AnySchema['type'], unknown>> = { integer: 0, array: [] };

const UNION_TYPES: Readonly<Record<AnySchema['type'], string>> = {
  string: 'string',
  enum: 'string',
  integer: 'number',
  boolean: 'boolean',
  array: 'sequence',
  map: 'map',
  object: 'map',
  union: '',
  unchecked: '',
};

interface FieldTable {
  readonly names: readonly string[];
  readonly index: ReadonlyMap<string, number>;
}

const FIELD_TABLES = new WeakMap<ObjectNode, FieldTable>();

function fieldTable(schema: ObjectNode): FieldTable {
  const known = FIELD_TABLES.get(schema);
  if (known !== undefined) return known;
  const names = Object.keys(schema.fields);
  const table = { names, index: new Map(names.map((name, index) => [name, index] as const)) };
  FIELD_TABLES.set(schema, table);
  return table;
}

function fieldNames(schema: ObjectNode): readonly string[] {
  return fieldTable(schema).names;
}

function fieldIndex(schema: ObjectNode): ReadonlyMap<string, number> {
  return fieldTable(schema).index;
}

/** Assignment would run the setter of `Object.prototype` for the key `__proto__`. */
function setOwn(values: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') values[key] = value;
  else Object.defineProperty(values, key, { value, enumerable: true, configurable: true, writable: true });
}

function isNull(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}

function isEmptyText(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.value === '';
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

/** Text in quotes, cut so that a message stays a line. */
function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 80 ? text : `${text.slice(0, 76)}…"`;
}

function isSecret(schema: AnySchema): boolean {
  return schema.type === 'map' ? isSecret(schema.values) : schema.type === 'string' && schema.secret === true;
}

/** What messages may show of a node that holds a secret: its type. */
function hidden(node: YamlNode): YamlNode {
  if (node.kind !== 'scalar' || node.value === null) return node;
  return { ...node, text: `a ${typeof node.value === 'string' ? 'text' : typeof node.value}`, value: true };
}

function describe(node: YamlNode): string {
  if (node.kind === 'map') return 'a map';
  if (node.kind === 'sequence') return 'a list';
  if (node.value === null) return 'nothing';
  if (typeof node.value === 'string') return `the text ${quote(node.value)}`;
  if (typeof node.value === 'number') return `the number ${node.text}`;
  return node.text;
}

function remedy(node: YamlNode, schema: AnySchema): string {
  const wantsText = schema.type === 'string' || schema.type === 'enum';
  if (wantsText && isSecret(schema)) return 'put it in quotes';
  if (wantsText && node.kind === 'scalar' && node.value !== null) return `put it in quotes: "${node.text}"`;
  if (schema.type === 'integer' && node.kind === 'scalar' && /^[-+]?[0-9]+$/.test(node.text))
    return 'leave the quotes out';
  if (schema.type === 'boolean' && node.kind === 'scalar' && /^(?:yes|no|on|off|y|n)$/i.test(node.text)) {
    return `write ${/^(?:y|yes|on)$/i.test(node.text) ? 'true' : 'false'}`;
  }
  if (schema.type === 'array') return 'begin each item of the list with "- "';
  if (schema.type === 'object' && node.kind === 'sequence') return 'leave the "- " out: there is only one';
  if (schema.type === 'object')
    return `has the fields ${Object.keys(schema.fields).slice(0, LISTED_FIELDS).join(', ')}`;
  return schema.doc;
}
