/**
 * Regular expressions of the IR, which are those of Rust's `regex` crate, with JavaScript's engine. Patterns match whole texts.
 */
import { readPattern } from '../model/patterns.js';

/** True when the pattern matches all of the text; false for a pattern that cannot be read, which resolution lets nowhere. */
export function fitsPattern(pattern: string, text: string): boolean {
  const read = readPattern(pattern);
  return read.ok && new RegExp(`^(?:${read.value})$`, 'v').test(text);
}
