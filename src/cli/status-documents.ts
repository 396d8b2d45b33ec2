/**
 * Whole objects as kubectl prints them: YAML or JSON, keys sorted, a List around several, written as they come. Pure: `write` is an
 * argument. Serves `status.ts`.
 */
import { dump } from 'js-yaml';
import type { ListedObject } from '../ipc/admin-protocol.js';

/** Takes text that is ready; resolves when there may be more. */
export type Write = (text: string) => Promise<void>;

/** Returns one object as a YAML document. */
export function formatDocument(object: ListedObject): string {
  return yaml(object);
}

/** Writes a List: `items` as they are given, then what is known at the end. */
export class ListWriter {
  readonly #format: 'json' | 'yaml';
  readonly #write: Write;
  #count = 0;

  constructor(format: 'json' | 'yaml', write: Write) {
    this.#format = format;
    this.#write = write;
  }

  async add(objects: readonly ListedObject[]): Promise<void> {
    if (objects.length === 0) return;
    const begin = this.#count === 0 ? HEADS[this.#format] : '';
    const text = this.#format === 'yaml' ? yaml(objects) : this.#jsonItems(objects);
    this.#count += objects.length;
    await this.#write(begin + text);
  }

  async end(metadata: object): Promise<void> {
    if (this.#format === 'yaml') {
      const items = this.#count === 0 ? 'apiVersion: v1\nitems: []\n' : '';
      await this.#write(items + yaml({ kind: 'List', metadata }));
    } else {
      const items = this.#count === 0 ? '{\n  "apiVersion": "v1",\n  "items": [' : '\n  ';
      await this.#write(`${items}],\n  "kind": "List",\n  "metadata": ${indented(metadata, '  ')}\n}\n`);
    }
  }

  #jsonItems(objects: readonly ListedObject[]): string {
    const first = this.#count === 0 ? '' : ',\n';
    return first + objects.map((object) => `    ${indented(object, '    ')}`).join(',\n');
  }
}

const HEADS = { yaml: 'apiVersion: v1\nitems:\n', json: '{\n  "apiVersion": "v1",\n  "items": [\n' } as const;

function yaml(value: unknown): string {
  return dump(value, { noRefs: true, lineWidth: -1, seqNoIndent: true, sortKeys: true, quoteStyle: 'double' });
}

function indented(value: unknown, prefix: string): string {
  return JSON.stringify(sorted(value), undefined, 2).replaceAll('\n', `\n${prefix}`);
}

/** Strings hold no line ends once they are JSON, so that indenting cannot hurt them. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, field]): [string, unknown] => [key, sorted(field)]);
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}
