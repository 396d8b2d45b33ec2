/**
 * Why an IR cannot become a table: too large for the format (`limit`), or contradictory, which is a bug above (`bug`).
 */

/** Thrown by `compile`; `code` is stable. */
export class CompileError extends Error {
  readonly code: 'WEIRGATE_TABLE_LIMIT' | 'WEIRGATE_TABLE_BUG';

  constructor(kind: 'limit' | 'bug', message: string) {
    super(message);
    this.name = 'CompileError';
    this.code = kind === 'limit' ? 'WEIRGATE_TABLE_LIMIT' : 'WEIRGATE_TABLE_BUG';
  }
}
