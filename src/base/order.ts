/**
 * Orders that do not depend on the locale of the machine: equal input sorts alike everywhere.
 */

/** Compares two strings by UTF-16 code units: negative, zero or positive. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Compares two numbers: negative, zero or positive. */
export function compareNumbers(a: number, b: number): number {
  return a - b;
}

/** Returns the first comparison that is not zero, for orders by several keys. Every argument is computed. */
export function firstDifference(...comparisons: readonly number[]): number {
  return comparisons.find((comparison) => comparison !== 0) ?? 0;
}
