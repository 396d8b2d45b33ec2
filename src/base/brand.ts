/**
 * Nominal types over primitives: a `Brand<number, 'Port'>` cannot be passed where a `Brand<number, 'Milliseconds'>` is wanted.
 * The only place that casts; parse functions elsewhere call `brand` after they have checked.
 */

declare const BRAND: unique symbol;

/** `T` that has passed the check called `Name`. Costs nothing at run time. */
export type Brand<T, Name extends string> = T & { readonly [BRAND]: Name };

/** Returns `value` as the branded type. Call it only where the value has just been checked. */
export function brand<B extends Brand<unknown, string>>(value: B extends Brand<infer T, string> ? T : never): B {
  return value as unknown as B;
}
