/** What became of the reloads, for the overview and the metrics. Serves `primary.ts`. */
import type { LastReload } from '../ipc/admin-protocol.js';
import type { ReloadResult } from './reload.js';

/** Diagnostics kept for the overview, errors first; `reload --wait` and the log get more. */
const MAX_KEPT = 200;

/** Remembers the last outcome and counts all of them. */
export class ReloadHistory {
  #last: LastReload = { outcome: 'none', at: '', succeededAt: '', message: '', diagnostics: [] };
  readonly #counts = { programmed: 0, unchanged: 0, refused: 0 };

  get last(): LastReload {
    return this.#last;
  }

  add({ outcome, message, diagnostics }: ReloadResult, now: Date): void {
    const at = now.toISOString();
    const succeededAt = outcome === 'refused' ? this.#last.succeededAt : at;
    this.#counts[outcome] += 1;
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    const others = diagnostics.filter(({ severity }) => severity !== 'error');
    this.#last = { outcome, at, succeededAt, message, diagnostics: [...errors, ...others].slice(0, MAX_KEPT) };
  }

  metrics(): {
    readonly reloadSucceeded: boolean;
    readonly reloadSucceededAt: number;
    readonly reloads: Readonly<Record<ReloadResult['outcome'], number>>;
  } {
    const { outcome, succeededAt } = this.#last;
    return {
      reloadSucceeded: outcome !== 'refused',
      reloadSucceededAt: succeededAt === '' ? 0 : Date.parse(succeededAt) / 1000,
      reloads: { ...this.#counts },
    };
  }
}
