/**
 * Assertions about our own code. A failure here is a bug of ours, never a fault of the user.
 */

/**
 * Marks a branch that the types prove unreachable; makes a `switch` over a union exhaustive.
 * Throws when it is reached all the same, which means that a value lies about its type.
 */
export function assertNever(value: never): never {
  throw new Error(`WEIRGATE_BUG unreachable value: ${JSON.stringify(value)}`);
}

/** Returns `value`; throws when it is undefined, which the caller holds impossible for the reason given. */
export function assertDefined<T>(value: T | undefined, reason: string): T {
  if (value === undefined) throw new Error(`WEIRGATE_BUG ${reason}`);
  return value;
}
