/**
 * Names of properties of characters, as `\p{…}` in a regular expression has them.
 * General categories and scripts are known to JavaScript's own expressions, which are asked; the rest is listed.
 */

/** Properties with two values that Rust's `regex` crate knows, without the separators that do not count. */
const BINARY: ReadonlySet<string> = new Set(
  `any assigned ascii asciihexdigit alphabetic bidicontrol bidimirrored caseignorable cased changeswhencasefolded changeswhencasemapped
  changeswhenlowercased changeswhentitlecased changeswhenuppercased dash defaultignorablecodepoint deprecated diacritic emoji
  emojicomponent emojimodifier emojimodifierbase emojipresentation extendedpictographic extender graphemebase graphemeextend
  graphemelink hexdigit hyphen idsbinaryoperator idstrinaryoperator idcontinue idstart ideographic joincontrol logicalorderexception
  lowercase math noncharactercodepoint otheralphabetic othermath patternsyntax patternwhitespace quotationmark radical
  regionalindicator sentenceterminal softdotted terminalpunctuation unifiedideograph uppercase variationselector whitespace
  xidcontinue xidstart`.split(/\s+/),
);

/** Keys of `\p{key=value}`, by the word that JavaScript has for them. */
const KEYS: ReadonlyMap<string, string> = new Map([
  ['gc', 'gc'],
  ['generalcategory', 'gc'],
  ['sc', 'sc'],
  ['script', 'sc'],
  ['scx', 'scx'],
  ['scriptextensions', 'scx'],
]);

/**
 * Returns whether the text between the braces of `\p{…}` names a property, a general category or a script. Case, spaces, "-" and "_"
 * do not count, except that words must be separated somehow: `old_persian`, not `oldpersian`.
 */
export function isUnicodeProperty(name: string): boolean {
  if (!/^[A-Za-z0-9 _-]+(?:(?:!?=|:)[A-Za-z0-9 _-]+)?$/.test(name)) return false;
  const [first = '', value] = name.split(/!?=|:/);
  if (value !== undefined) {
    const key = KEYS.get(plain(first));
    return key !== undefined && isKnown(key, value);
  }
  return BINARY.has(plain(first)) || isKnown('gc', first) || isKnown('sc', first);
}

function isKnown(key: string, value: string): boolean {
  const words = value.split(/[ _-]+/).filter((word) => word !== '');
  const titled = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()).join('_');
  return [value, titled].some((candidate) => canExpress(`\\p{${key}=${candidate}}`));
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[ _-]/g, '');
}

function canExpress(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source !== '';
  } catch {
    return false;
  }
}
