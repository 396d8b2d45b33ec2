/**
 * Asks a running instance for its overview and its objects, these a page at a time. Serves `status.ts`.
 */
import { err, ok, type Result } from '../base/index.js';
import { askAdmin } from '../ipc/admin-client.js';
import type { ObjectList, Overview } from '../ipc/admin-protocol.js';
import { EXIT } from './exit-status.js';

/** Why there is no answer, and the exit status that it means. */
export interface AskFailure {
  readonly message: string;
  readonly status: number;
}

/** Which objects; what is undefined matches all. */
export interface ObjectQuery {
  readonly kind: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  /** At most so many in all. */
  readonly limit?: number;
}

/** A page waits for a build that runs. */
const TIMEOUT_MS = 60_000;
const PAGE_OBJECTS = 500;

/** Asks one instance, by the path of its admin socket. */
export class StatusClient {
  readonly #socket: string;

  constructor(socket: string) {
    this.#socket = socket;
  }

  overview(): Promise<Result<Overview, AskFailure>> {
    return this.#get<Overview>('/overview');
  }

  /** Yields the objects, page by page; after a failure nothing more. A reload meanwhile shows in the pages behind it. */
  async *pages(query: ObjectQuery): AsyncGenerator<Result<ObjectList, AskFailure>> {
    const { limit = Number.POSITIVE_INFINITY, ...words } = query;
    let left = limit;
    let after: string | undefined;
    do {
      const wanted = { ...words, limit: Math.min(left, PAGE_OBJECTS), continue: after };
      const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
      const parameters = new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)]));
      const answered = await this.#get<ObjectList>(`/objects?${parameters}`);
      yield answered;
      if (!answered.ok) return;
      left -= answered.value.items.length;
      after = answered.value.metadata.continue;
    } while (after !== undefined && left > 0);
  }

  async #get<T>(target: string): Promise<Result<T, AskFailure>> {
    const answer = await askAdmin(this.#socket, 'GET', target, { timeoutMs: TIMEOUT_MS });
    if (!answer.ok) return err({ message: answer.error.message, status: EXIT.unreachable });
    const { status: code, body } = answer.value;
    if (code === 200) return ok(JSON.parse(body) as T);
    return err({ message: `the instance answered ${code} to GET ${target}: ${body.trim()}`, status: EXIT.failed });
  }
}
