/**
 * What is asked after host and path: method and headers, and the action of those who pass.
 */
import type { IrMatch } from '../ir/ir.js';
import { HEADER_RECORD, MATCH_RECORD } from '../native/layout.gen.js';
import type { Sections } from './sections.js';

/** Appends a match and its header conditions. */
export function encodeMatch(sections: Sections, match: IrMatch): void {
  const { matches, headers, strings } = sections;
  const at = matches.record();
  matches.u32(at + MATCH_RECORD.action, match.action);
  matches.text(at + MATCH_RECORD.methodOffset, strings, match.method ?? '');
  matches.u32(at + MATCH_RECORD.headerFirst, headers.count);
  matches.u32(at + MATCH_RECORD.headerCount, match.headers.length);
  for (const header of match.headers) {
    const record = headers.record();
    headers.text(record + HEADER_RECORD.nameOffset, strings, header.name);
    headers.text(record + HEADER_RECORD.valueOffset, strings, header.value);
  }
}
