/**
 * `weirgate explain KIND.FIELD…`: what a field means, its type, limits and default, from the schema that admission checks with. Pure.
 */
import { nearestWord } from '../admit/index.js';
import { assertDefined, err, ok, type Result } from '../base/index.js';
import {
  type AnySchema,
  apiVersionOf,
  FORMATS,
  KINDS,
  type KindDefinition,
  type SchemaNode,
} from '../gateway-api/index.js';
import { parseKinds } from './kind-names.js';
import { formatColumns, type Painter } from './output.js';

/** A field, found. */
export interface FoundField {
  readonly definition: KindDefinition;
  /** Below the kind; empty: the kind itself. */
  readonly path: readonly string[];
  readonly schema: SchemaNode;
}

/** Finds a field by a path such as `httproute.spec.rules.matches`; lists and maps are stepped into without saying so. Errors are sentences. */
export function findField(text: string): Result<FoundField, string> {
  const [word = '', ...path] = text.split('.').map((part) => part.replace(/\[\d*\]$/, ''));
  const kinds = parseKinds(word);
  if (!kinds.ok) return kinds;
  if (kinds.value.length > 1) return err(`"${word}" means ${kinds.value.join(', ')}: name one of them`);
  const definition = assertDefined(
    KINDS.find(({ kind }) => kind === kinds.value[0]),
    'words mean kinds that there are',
  );
  let schema: SchemaNode = definition.schema;
  for (const [depth, name] of path.entries()) {
    const fields = fieldsOf(schema);
    const next = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (next === undefined) {
      const parent = [definition.kind, ...path.slice(0, depth)].join('.');
      const names = Object.keys(fields);
      const near = nearestWord(name, names);
      const remedy = near === undefined ? `; it has ${names.join(', ') || 'no fields'}` : `; did you mean ${near}?`;
      return err(`${parent} has no field ${name}${remedy}`);
    }
    schema = next;
  }
  return ok({ definition, path, schema });
}

/** Returns the documentation of a field for people: what it is, its limits, the fields below it. */
export function formatField({ definition, path, schema }: FoundField, paint: Painter): string {
  const head = formatColumns([
    ['KIND:', definition.kind],
    ['VERSION:', apiVersionOf(definition)],
    ...(path.length === 0 ? [] : [['FIELD:', `${path.join('.')} <${typeName(schema)}>`]]),
  ]);
  const body = [
    paint('bold', 'DESCRIPTION:'),
    `  ${sentence(schema.doc)}`,
    ...limitsOf(schema).map((line) => `  ${line}`),
  ];
  const fields = Object.entries(fieldsOf(schema));
  const table = fields.length === 0 ? '' : `\n${paint('bold', 'FIELDS:')}\n${fieldTable(fields)}`;
  return `${head}\n${body.join('\n')}\n${table}`;
}

function fieldTable(fields: readonly (readonly [string, AnySchema])[]): string {
  const rows = fields.map(([name, field]) => [
    `  ${name}`,
    `<${typeName(field)}>`,
    field.presence === 'required' ? '-required-' : '',
    field.doc,
  ]);
  return formatColumns(rows);
}

/** The fields that a path may step into next: of an object, of the items of a list, of the values of a map. */
function fieldsOf(schema: SchemaNode): Readonly<Record<string, AnySchema>> {
  switch (schema.type) {
    case 'object':
      return schema.fields;
    case 'array':
      return fieldsOf(schema.items);
    case 'map':
      return fieldsOf(schema.values);
    default:
      return {};
  }
}

function typeName(schema: SchemaNode): string {
  switch (schema.type) {
    case 'array':
      return `[]${typeName(schema.items)}`;
    case 'map':
      return `map[string]${typeName(schema.values)}`;
    case 'enum':
      return 'string';
    case 'union':
      return schema.variants.map(typeName).join(' or ');
    case 'unchecked':
      return 'any';
    default:
      return schema.type;
  }
}

function limitsOf(schema: SchemaNode): string[] {
  const lines: string[] = [];
  if (schema.presence === 'defaulted') lines.push(`Default: ${JSON.stringify(schema.default)}`);
  switch (schema.type) {
    case 'enum':
      lines.push(`One of: ${schema.values.join(', ')}`);
      break;
    case 'integer':
      if (schema.values !== undefined) lines.push(`One of: ${schema.values.join(', ')}`);
      lines.push(...rangeOf('Value', schema.min, schema.max));
      break;
    case 'string':
      lines.push(...rangeOf('Length', schema.minLength, schema.maxLength));
      if (schema.format !== undefined) lines.push(`Form: ${FORMATS[schema.format].wants}`);
      break;
    case 'array':
      lines.push(...rangeOf('Items', schema.minItems, schema.maxItems));
      if (schema.listType === 'set') lines.push('No item may occur twice.');
      if (schema.listType === 'map') lines.push(`No two items may have the same ${schema.keys.join(' and ')}.`);
      lines.push(...limitsOf(schema.items).map((line) => `Each: ${line}`));
      break;
    case 'map':
      lines.push(...rangeOf('Entries', schema.minItems, schema.maxItems));
      break;
    default:
      break;
  }
  return lines;
}

function rangeOf(what: string, min: number | undefined, max: number | undefined): string[] {
  if (min === undefined && max === undefined) return [];
  if (max === undefined) return [`${what}: at least ${min}`];
  return [`${what}: ${min === undefined ? 'at most ' : `${min} to `}${max}`];
}

function sentence(text: string): string {
  const end = /[.!?]$/.test(text) ? '' : '.';
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${end}`;
}
