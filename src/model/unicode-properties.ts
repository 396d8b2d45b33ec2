/**
 * Names of properties of characters, as `\p{…}` in a regular expression has them: those that Rust's `regex` crate and JavaScript have
 * in common. General categories and scripts are not listed: JavaScript's own expressions are asked.
 */

/** Properties with two values, by their names without the separators that do not count. */
const BINARY: ReadonlyMap<string, string> = new Map(
  `Any ASCII Assigned ASCII_Hex_Digit Alphabetic Bidi_Control Bidi_Mirrored Case_Ignorable Cased Changes_When_Casefolded
  Changes_When_Casemapped Changes_When_Lowercased Changes_When_Titlecased Changes_When_Uppercased Dash Default_Ignorable_Code_Point
  Deprecated Diacritic Emoji Emoji_Component Emoji_Modifier Emoji_Modifier_Base Emoji_Presentation Extended_Pictographic Extender
  Grapheme_Base Grapheme_Extend Hex_Digit IDS_Binary_Operator IDS_Trinary_Operator ID_Continue ID_Start Ideographic Join_Control
  Logical_Order_Exception Lowercase Math Noncharacter_Code_Point Pattern_Syntax Pattern_White_Space Quotation_Mark Radical
  Regional_Indicator Sentence_Terminal Soft_Dotted Terminal_Punctuation Unified_Ideograph Uppercase Variation_Selector White_Space
  XID_Continue XID_Start`
    .split(/\s+/)
    .map((name) => [plain(name), name]),
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

/** A property of characters. */
export interface UnicodeProperty {
  /** As JavaScript writes it between the braces of `\p{…}`: `gc=Lu`. */
  readonly name: string;
  /** Written with `!=`: the characters that do not have it. */
  readonly isNegated: boolean;
}

/**
 * Returns the property that is named between the braces of `\p{…}`, `undefined` when there is none. Case, spaces, "-" and "_" do not
 * count, except that words must be separated somehow: `old_persian`, not `oldpersian`.
 */
export function unicodeProperty(text: string): UnicodeProperty | undefined {
  const [whole, first = '', operator = '', value] =
    /^([A-Za-z0-9 _-]+)(?:(!=|=|:)([A-Za-z0-9 _-]+))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const isNegated = operator === '!=';
  const key = KEYS.get(plain(first));
  const name =
    value === undefined
      ? (BINARY.get(plain(first)) ?? known('gc', first) ?? known('sc', first))
      : key && known(key, value);
  return name === undefined ? undefined : { name, isNegated };
}

function known(key: string, value: string): string | undefined {
  const words = value.split(/[ _-]+/).filter((word) => word !== '');
  const titled = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()).join('_');
  return [value, titled].map((candidate) => `${key}=${candidate}`).find(canExpress);
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[ _-]/g, '');
}

function canExpress(name: string): boolean {
  try {
    return new RegExp(`\\p{${name}}`, 'u').source !== '';
  } catch {
    return false;
  }
}
