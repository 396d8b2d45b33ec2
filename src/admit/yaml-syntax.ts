/**
 * Says in words for people what js-yaml means, and where the cause is rather than where the parser gave up.
 */
import { MAX_DEPTH } from './limits.js';
import type { YamlFault } from './yaml-node.js';

interface Explanation {
  readonly message: string;
  readonly hint: string;
}

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
    'unexpected end of the stream within a double quoted scalar',
    { message: 'the text that begins with this quote never ends', hint: 'close it with "' },
  ],
  [
    'unexpected end of the stream within a single quoted scalar',
    { message: 'the text that begins with this quote never ends', hint: "close it with '" },
  ],
  [
    'unexpected end of the stream within a flow collection',
    { message: 'a "[" or "{" is never closed', hint: 'close it with "]" or "}"' },
  ],
  [
    'deficient indentation',
    { message: 'a "[" or "{" before this line is not closed, or this line needs more indentation', hint: '' },
  ],
  [
    'end of the stream or a document separator is expected',
    {
      message: 'this does not belong to what stands above',
      hint: 'align it with the line above, write "key: value", or begin a new document with a "---" line',
    },
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
  const offset = Math.min(position, Math.max(0, source.trimEnd().length - 1));
  const known = EXPLANATIONS.find(([beginning]) => reason.startsWith(beginning))?.[1];
  const explanation = known ?? { message: reason, hint: '' };
  return { code: 'WG1003', message: `YAML syntax: ${explanation.message}`, hint: explanation.hint, offset };
}
