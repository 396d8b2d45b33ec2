/** The version of the table format, for people and for comparison; needs no addon. Serves `cli/` and whoever names it. */
import { LAYOUT_HASH } from './layout.gen.js';

/** Sixteen hexadecimal digits, as the addon's `version()` has them. */
export const LAYOUT_VERSION = LAYOUT_HASH.toString(16).padStart(16, '0');
