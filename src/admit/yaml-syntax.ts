/**
 * Says in words for people what js-yaml means, and where the cause is rather than where the parser gave up.
 */
import { MAX_DEPTH } from './limits.js';
import type { YamlFault } from './yaml-node.js';

interface Explanation {
  readonly message: string;
  readonly hint: string;
  /** The cause is an opening quote or bracket further up; the fault is shown there when it is found. */
  readonly unclosed?: boolean;
}

/** Lines above the place where the parser gave up that are searched for an opening quote or bracket. */
const SEARCHED_LINES = 50;

/** Beginnings of js-yaml's reasons. What is not here is passed on as it is. */
const EXPLANATIONS: readonly (readonly [string, Explanation])[] = [
  ['tab characters must not be used', { message: 'a tab is used for indentation', hint: 'indent with spaces' }],
  [
    'bad indentation of a mapping entry',
    {
      message: 'this does not fit here: wrong indentation, or text that needs quotes',
      hint: 'align the key with its siblings; quote text that contains ": " or begins with @, `, % or {',
    },
  ],
  [
    'bad indentation of a sequence entry',
    { message: 'this list item is not aligned', hint: 'begin every item of a list in the same column' },
  ],
  [
    'unexpected end of the stream within a',
    { message: 'what begins here is never closed', hint: 'close the quote or bracket', unclosed: true },
  ],
  [
    'deficient indentation',
    { message: 'what begins here is not closed in time', hint: 'close the quote or bracket', unclosed: true },
  ],
  [
    'end of the stream or a document separator is expected',
    {
      message: 'this does not belong to what stands above',
      hint: 'align it with the line above, write "key: value", or begin a new document with a "---" line',
    },
  ],
  [
    'name of an alias node must contain',
    { message: 'an asterisk begins an alias here', hint: 'put the text into quotes: "*"' },
  ],
  [
    'the stream contains non-printable characters',
    { message: 'there is a control character here', hint: 'save the file as UTF-8 text' },
  ],
  [
    'null byte is not allowed',
    { message: 'there is a null byte here', hint: 'save the file as UTF-8 text; this one looks binary or UTF-16' },
  ],
];

/** Returns the fault for what js-yaml said about `source`. `position` and the fault's offset count from its start. */
export function explainSyntaxError(reason: string, position: number, source: string): YamlFault {
  if (reason.startsWith('nesting exceeded')) {
    const message = `nested too deep: at most ${MAX_DEPTH} lists and maps inside each other`;
    return { code: 'WG1004', message, hint: 'no field of any kind lies that deep', offset: position };
  }
  const known = EXPLANATIONS.find(([beginning]) => reason.startsWith(beginning))?.[1];
  const {
    message,
    hint,
    unclosed = false,
  } = known ?? { message: reason, hint: 'look at the indentation, quotes and brackets here and in the line before' };
  const end = Math.min(position, Math.max(0, source.trimEnd().length - 1));
  const offset = unclosed ? (openerBefore(source, end) ?? end) : end;
  return { code: 'WG1003', message: `YAML syntax: ${message}`, hint, offset };
}

/** Returns the offset of the nearest quote or bracket above `end` that its own line does not close. */
function openerBefore(source: string, end: number): number | undefined {
  let lineEnd = source.indexOf('\n', end);
  if (lineEnd === -1) lineEnd = source.length;
  for (let searched = 0; searched < SEARCHED_LINES && lineEnd >= 0; searched++) {
    const start = source.lastIndexOf('\n', lineEnd - 1) + 1;
    const opener = openerIn(source.slice(start, lineEnd));
    if (opener !== undefined) return start + opener;
    if (start === 0) return undefined;
    lineEnd = start - 1;
  }
  return undefined;
}

/** Returns the column (from 0) of the outermost quote or bracket that the line opens and does not close. */
function openerIn(line: string): number | undefined {
  const open: number[] = [];
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? '';
    const isValueStart = at === 0 || /[\s[{,:-]/.test(line[at - 1] ?? '');
    if ((character === '"' || character === "'") && isValueStart) {
      const close = closingQuote(line, at, character);
      if (close === undefined) return open[0] ?? at;
      at = close;
    } else if (character === '#' && (at === 0 || /\s/.test(line[at - 1] ?? ''))) break;
    else if (character === '[' || character === '{') open.push(at);
    else if (character === ']' || character === '}') open.pop();
  }
  return open[0];
}

function closingQuote(line: string, start: number, quote: string): number | undefined {
  for (let at = start + 1; at < line.length; at++) {
    if (quote === '"' && line[at] === '\\') at++;
    else if (line[at] === quote) return at;
  }
  return undefined;
}
