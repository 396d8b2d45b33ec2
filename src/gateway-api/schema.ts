/**
 * A small language for resource schemas: one definition gives the TypeScript type, the structure check, the defaults and
 * the field documentation. Only descriptions live here; `admit/` walks them. Serves the files that describe the kinds.
 */
import type { FormatName } from './formats.js';

declare const TYPE: unique symbol;

/** Whether a field may be absent; `defaulted` fields are always there after defaults have been applied. */
export type Presence = 'required' | 'optional' | 'defaulted';

/** A schema whose valid values, after defaults, have the type `T`. */
export type Schema<T, P extends Presence = Presence> = SchemaNode & {
  readonly presence: P;
  readonly [TYPE]?: () => T;
};

/** The TypeScript type of the values that a schema admits, after defaults. */
export type Infer<S> = S extends { readonly [TYPE]?: () => infer T } ? T : never;

// biome-ignore lint/suspicious/noExplicitAny: a field of any type; `Infer` gives the type back
export type AnySchema = Schema<any>;

interface NodeBase {
  /** For people: what the field means, its unit, its limits. */
  readonly doc: string;
  readonly presence: Presence;
  /** Value of an absent field; only with presence `defaulted`. */
  readonly default?: unknown;
  /** `""` counts as absent: Kubernetes cannot tell them apart in its own kinds. */
  readonly emptyIsAbsent?: boolean;
}

export interface StringNode extends NodeBase {
  readonly type: 'string';
  /** In Unicode code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: FormatName;
  /** Never shown: not in messages, not in dumps. */
  readonly secret?: boolean;
}

export interface EnumNode extends NodeBase {
  readonly type: 'enum';
  readonly values: readonly string[];
  /** Another word is a fault like a number out of bounds, as Kubernetes has it for its own kinds: rules judge the object all the same. */
  readonly open?: boolean;
}

export interface IntegerNode extends NodeBase {
  readonly type: 'integer';
  readonly min?: number;
  readonly max?: number;
  /** When given, only these. */
  readonly values?: readonly number[];
}

export interface BooleanNode extends NodeBase {
  readonly type: 'boolean';
}

export interface ArrayNode extends NodeBase {
  readonly type: 'array';
  readonly items: AnySchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** `set`: no item twice. `map`: no two items with equal `keys`. `atomic`: anything goes. */
  readonly listType: 'atomic' | 'set' | 'map';
  readonly keys: readonly string[];
}

export interface MapNode extends NodeBase {
  readonly type: 'map';
  readonly values: AnySchema;
  /** `null` as a value is `''`, as for maps of Kubernetes itself; otherwise such an entry counts as absent. */
  readonly emptyForNull?: boolean;
  readonly keyFormat?: FormatName;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface ObjectNode extends NodeBase {
  readonly type: 'object';
  readonly fields: Readonly<Record<string, AnySchema>>;
  /**
   * Where it must be there but is absent or `null`, it is read as if it were `{}`, so that what is missing in it is named. Numbers and
   * lists that are missing in it are 0 and `[]` for the rules: Kubernetes judges its own kinds so.
   */
  readonly absentIsEmpty?: boolean;
  /** Fields that earlier releases of the API had, with what to write in their place. */
  readonly former?: Readonly<Record<string, string>>;
}

/** The value must fit one of them; they differ by YAML type. */
export interface UnionNode extends NodeBase {
  readonly type: 'union';
  readonly variants: readonly AnySchema[];
}

/** A field that we know but do not read: at most its types are looked at, and the value is dropped. */
export interface UncheckedNode extends NodeBase {
  readonly type: 'unchecked';
  readonly shape?: AnySchema;
}

export type SchemaNode =
  | StringNode
  | EnumNode
  | IntegerNode
  | BooleanNode
  | ArrayNode
  | MapNode
  | ObjectNode
  | UnionNode
  | UncheckedNode;

type Flatten<T> = { readonly [K in keyof T]: T[K] };

type OptionalKeys<F> = { [K in keyof F]: F[K] extends { readonly presence: 'optional' } ? K : never }[keyof F];

type ObjectOf<F> = Flatten<
  { readonly [K in Exclude<keyof F, OptionalKeys<F>>]: Infer<F[K]> } & {
    readonly [K in OptionalKeys<F>]?: Infer<F[K]>;
  }
>;

type Fields = Readonly<Record<string, AnySchema>>;

/** A string; lengths count Unicode code points. */
export function string(
  doc: string,
  limits: {
    readonly minLength?: number;
    readonly maxLength?: number;
    readonly format?: FormatName;
    readonly secret?: boolean;
  } = {},
): Schema<string, 'required'> {
  return { type: 'string', doc, presence: 'required', ...limits };
}

/** One of the given words; case matters. */
export function oneOf<const V extends readonly string[]>(
  doc: string,
  values: V,
  options: { readonly open?: boolean } = {},
): Schema<V[number], 'required'> {
  return { type: 'enum', doc, presence: 'required', values, ...options };
}

/** A whole number within the given limits; without a `max`, one of 32 bits. */
export function integer(
  doc: string,
  limits: { readonly min?: number; readonly max?: number } = {},
): Schema<number, 'required'> {
  return { type: 'integer', doc, presence: 'required', ...limits };
}

/** One of the given whole numbers. */
export function oneOfNumbers<const V extends readonly number[]>(doc: string, values: V): Schema<V[number], 'required'> {
  return { type: 'integer', doc, presence: 'required', values };
}

/** `true` or `false`. */
export function boolean(doc: string): Schema<boolean, 'required'> {
  return { type: 'boolean', doc, presence: 'required' };
}

/** A list. With `keys` no two items may be equal in all of them; with `set` no item may occur twice. */
export function array<S extends AnySchema>(
  doc: string,
  items: S,
  limits: {
    readonly minItems?: number;
    readonly maxItems?: number;
    readonly set?: boolean;
    readonly keys?: readonly string[];
  } = {},
): Schema<readonly Infer<S>[], 'required'> {
  const { set, keys, ...sizes } = limits;
  const listType = keys !== undefined ? 'map' : set === true ? 'set' : 'atomic';
  return { type: 'array', doc, presence: 'required', items, listType, keys: keys ?? [], ...sizes };
}

/** A map from free keys to values of one type. */
export function map<S extends AnySchema>(
  doc: string,
  values: S,
  limits: {
    readonly keyFormat?: FormatName;
    readonly minItems?: number;
    readonly maxItems?: number;
    readonly emptyForNull?: boolean;
  } = {},
): Schema<Readonly<Record<string, Infer<S>>>, 'required'> {
  return { type: 'map', doc, presence: 'required', values, ...limits };
}

/** An object with known fields; others are faults. */
export function object<const F extends Fields>(
  doc: string,
  fields: F,
  options: { readonly absentIsEmpty?: boolean; readonly former?: Readonly<Record<string, string>> } = {},
): Schema<ObjectOf<F>, 'required'> {
  return { type: 'object', doc, presence: 'required', fields, ...options };
}

/** A value that fits one of the variants, which differ by YAML type. */
export function union<const V extends readonly AnySchema[]>(
  doc: string,
  variants: V,
): Schema<Infer<V[number]>, 'required'> {
  return { type: 'union', doc, presence: 'required', variants };
}

/** A field that Kubernetes knows and Weirgate does not read; with a `shape`, its value must have that one. */
export function unchecked(doc: string, shape?: AnySchema): Schema<unknown, 'optional'> {
  return { type: 'unchecked', doc, presence: 'optional', ...(shape !== undefined && { shape }) };
}

/** The same schema for a field that may be absent. */
export function optional<T>(schema: Schema<T>): Schema<T, 'optional'> {
  return { ...schema, presence: 'optional' };
}

/** The same schema for a field that is filled in with `value` when absent. */
export function withDefault<T>(schema: Schema<T>, value: T): Schema<T, 'defaulted'> {
  return { ...schema, presence: 'defaulted', default: value };
}

/** The same schema for a field of which `""` says as much as its absence. */
export function emptyAsAbsent<T, P extends Presence>(schema: Schema<T, P>): Schema<T, P> {
  return { ...schema, emptyIsAbsent: true };
}

/** The same schema with another description, where a shared type is used for one purpose. */
export function described<T, P extends Presence>(schema: Schema<T, P>, doc: string): Schema<T, P> {
  return { ...schema, doc };
}
