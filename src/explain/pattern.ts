/**
 * Regular expressions of the IR, which are those of Rust's `regex` crate, with JavaScript's engine. What both have in common is all that
 * resolution lets through. Patterns match whole texts.
 */

/** True when the pattern matches all of the text; false for a pattern that JavaScript cannot read. */
export function fitsPattern(pattern: string, text: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, 'u').test(text);
  } catch {
    return false;
  }
}
