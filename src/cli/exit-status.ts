/** Exit statuses of all commands. Serves `cli/`. */
export const EXIT = {
  ok: 0,
  /** The configuration is invalid, or what was asked for failed. */
  failed: 1,
  usage: 2,
  /** Warnings under `--strict`. */
  warnings: 3,
  /** No instance answers. */
  unreachable: 4,
} as const;
