/**
 * Body of the `parse` pool's threads: one file's text in, what admission makes of it out. Stateless.
 * The result leaves as bytes and by transfer, so that it passes through the main thread without being looked at.
 */
import { setPriority } from 'node:os';
import { serialize } from 'node:v8';
import { admitText } from '../admit/index.js';
import { CONTROL_NICE } from './control-nice.js';
import { alone, transferring } from './transfer.js';

export interface ParseTask {
  readonly file: string;
  readonly text: string;
}

setPriority(0, CONTROL_NICE);

/** Returns the serialised `AdmittedFile` (`Uint8Array`). */
export default function parse({ file, text }: ParseTask): unknown {
  const bytes = alone(serialize(admitText(file, text)));
  return transferring(bytes, bytes);
}
