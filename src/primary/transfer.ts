/** Hands bytes of a pool thread's result over without a copy. Serves the tasks of both pools. */
import { move, transferableSymbol, valueSymbol } from 'piscina';

/** Returns what a task returns in place of `value`, so that `bytes`, a part of it, is moved and not copied. */
export function transferring(value: unknown, bytes: Uint8Array): unknown {
  return move({ [transferableSymbol]: [bytes.buffer], [valueSymbol]: value } as never);
}

/** Returns the bytes alone in their buffer: a transfer takes the whole buffer, which others may share. */
export function alone(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
}
