/**
 * How much a file may ask of us. Every limit is checked before the work that it bounds.
 */

/** Documents of this many bytes (UTF-8) and more are refused. A file may hold many documents: `sources/` bounds files. */
export const MAX_BYTES = 10_000_000;

/** Lists and maps inside each other. The deepest field of the Gateway API lies 14 deep. */
export const MAX_DEPTH = 64;

/** Aliases (`*name`) in one document. */
export const MAX_ALIASES = 100;

/** Values that the aliases of one document stand for; counted without expanding anything. */
export const MAX_EXPANDED_NODES = 200_000;

/** Faults of one object that are listed; the rest is counted. */
export const MAX_FAULTS = 100;

/** Characters of a message, a hint, a path or a label: texts of a file may have megabytes. */
export const MAX_TEXT = 400;
