/**
 * `weirgate status [KIND [NAME]]`: what a running instance serves and what is wrong with it.
 */
import { once } from 'node:events';
import { Command, Option } from 'commander';
import { err, ok, type Result } from '../base/index.js';
import { type Fault, type ListedObject, MAX_FAULTS, type ObjectList, type Overview } from '../ipc/admin-protocol.js';
import { complain, findAdminSocket, painterFor } from './defaults.js';
import { EXIT } from './exit-status.js';
import { type KindsWanted, parseWanted } from './kind-names.js';
import { type AskFailure, StatusClient } from './status-client.js';
import { formatDocument, ListWriter } from './status-documents.js';
import { formatOverview } from './status-overview.js';
import { formatFaults, Table, type TableOptions } from './status-tables.js';

const FORMATS = ['table', 'wide', 'json', 'yaml'] as const;

interface StatusOptions {
  readonly namespace: string | undefined;
  readonly allNamespaces: boolean;
  readonly output: (typeof FORMATS)[number];
  readonly admin: string | undefined;
}

/** Kinds that the overview shows as tables, and how many objects of each. */
const OVERVIEW_KINDS = [
  'GatewayClass',
  'Gateway',
  'ListenerSet',
  'HTTPRoute',
  'GRPCRoute',
  'TLSRoute',
  'TCPRoute',
  'UDPRoute',
  'BackendTLSPolicy',
] as const;
const OVERVIEW_ROWS = 20;

/** Returns the command. Exit status: 0 all programmed · 1 something is not, or does not exist · 4 no instance. */
export function statusCommand(): Command {
  return new Command('status')
    .summary('say what the running instance serves, and what is wrong with it')
    .description(
      'Shows objects as kubectl get does, with their conditions; without KIND an overview. Exit status 1 when one of them is not as it should be.',
    )
    .argument('[kind]', 'gateways, httproutes, routes, listeners, …; several with commas; KIND/NAME works as well')
    .argument('[name]', 'one object of that kind; of listeners, the Gateway or ListenerSet that has them')
    .option('-n, --namespace <namespace>', 'objects of one namespace (default: of all)')
    .option('-A, --all-namespaces', 'objects of all namespaces, with a column that says which', false)
    .addOption(new Option('-o, --output <format>', 'how to print').choices(FORMATS).default('table'))
    .option('--admin <address>', 'admin socket of the running instance, unix:PATH')
    .action(async (kind: string | undefined, name: string | undefined, options: StatusOptions) => {
      process.exitCode = await status(kind, name, options);
    });
}

async function status(words: string | undefined, named: string | undefined, options: StatusOptions): Promise<number> {
  const [word, name] = splitName(words, named);
  const wanted = word === undefined ? ok(EVERYTHING) : parseWanted(word);
  if (!wanted.ok) return complain(wanted.error, EXIT.usage);
  const socket = findAdminSocket(options.admin);
  if (!socket.ok) return complain(socket.error, EXIT.usage);
  const client = new StatusClient(socket.value);
  const isTable = options.output === 'table' || options.output === 'wide';
  if (word === undefined && options.namespace === undefined && isTable) return await showOverview(client, options);

  const printer = printerFor(wanted.value, name, options);
  const printed = await printAll(client, wanted.value.kinds, { name, namespace: options.namespace }, printer);
  if (!printed.ok) return complain(printed.error.message, printed.error.status);
  if (name !== undefined && printed.value.count === 0) {
    return complain(`the instance has no ${word} named ${name}`, EXIT.failed);
  }
  await printer.end(printed.value);
  return printed.value.faultCount === 0 ? EXIT.ok : EXIT.failed;
}

/** Every kind, in one list. */
const EVERYTHING: KindsWanted = { kinds: [undefined], listeners: false };

/** `httproute/web` means the same as `httproute web`. */
function splitName(word: string | undefined, name: string | undefined): [string | undefined, string | undefined] {
  const slash = word?.indexOf('/') ?? -1;
  if (word === undefined || slash === -1 || name !== undefined) return [word, name];
  return [word.slice(0, slash), word.slice(slash + 1)];
}

// ── what is printed ─────────────────────────────────────────────────────────────────────────────────────────────────

/** What is known when all objects have passed. */
interface Passed {
  readonly count: number;
  /** The first of them. */
  readonly faults: readonly Fault[];
  readonly faultCount: number;
  readonly overview: Overview;
}

/** Takes objects as they come, and prints at once or at the end. */
interface Printer {
  add(objects: readonly ListedObject[]): Promise<void>;
  end(passed: Passed): Promise<void>;
}

/** Passes all objects that are wanted to the printer, page by page. */
async function printAll(
  client: StatusClient,
  kinds: KindsWanted['kinds'],
  filter: { readonly name: string | undefined; readonly namespace: string | undefined },
  printer: Printer,
): Promise<Result<Passed, AskFailure>> {
  let count = 0;
  let faultCount = 0;
  let metadata: ObjectList['metadata'] | undefined;
  const faults: Fault[] = [];
  for (const kind of kinds) {
    for await (const page of client.pages({ ...filter, kind })) {
      if (!page.ok) return page;
      const { items } = page.value;
      metadata = page.value.metadata;
      count += items.length;
      faultCount += metadata.faultCount;
      faults.push(...metadata.faults.slice(0, MAX_FAULTS - faults.length));
      await printer.add(items);
    }
  }
  if (metadata === undefined) return err({ message: 'no kind was named', status: EXIT.usage });
  return ok({ count, faults, faultCount, overview: metadata.weirgate });
}

function printerFor(wanted: KindsWanted, name: string | undefined, options: StatusOptions): Printer {
  switch (options.output) {
    case 'json':
      return new ListPrinter('json');
    case 'yaml':
      return name === undefined ? new ListPrinter('yaml') : new DocumentPrinter();
    case 'table':
    case 'wide':
      return wanted.listeners ? new ListenerPrinter(options) : new TablePrinter(options, name !== undefined);
  }
}

class ListPrinter implements Printer {
  readonly #writer: ListWriter;

  constructor(format: 'json' | 'yaml') {
    this.#writer = new ListWriter(format, print);
  }

  async add(objects: readonly ListedObject[]): Promise<void> {
    await this.#writer.add(objects);
  }

  async end({ overview }: Passed): Promise<void> {
    await this.#writer.end({ weirgate: overview });
  }
}

/** One object stands for itself, as with kubectl; a name that several namespaces have gives a List. */
class DocumentPrinter implements Printer {
  readonly #objects: ListedObject[] = [];

  async add(objects: readonly ListedObject[]): Promise<void> {
    this.#objects.push(...objects);
  }

  async end(passed: Passed): Promise<void> {
    const [first, second] = this.#objects;
    if (first !== undefined && second === undefined) return await print(formatDocument(first));
    const list = new ListPrinter('yaml');
    await list.add(this.#objects);
    await list.end(passed);
  }
}

class TablePrinter implements Printer {
  readonly #options: StatusOptions;
  readonly #tables = new Map<string, Table>();
  readonly #listeners: Table | undefined;

  /** A single Gateway with `-o wide` shows its listeners as well. */
  constructor(options: StatusOptions, isOne: boolean) {
    this.#options = options;
    this.#listeners = isOne && options.output === 'wide' ? Table.ofListeners(tableOptions(options)) : undefined;
  }

  async add(objects: readonly ListedObject[]): Promise<void> {
    for (const object of objects) {
      let table = this.#tables.get(object.kind);
      if (table === undefined) {
        table = Table.ofKind(object.kind, tableOptions(this.#options));
        this.#tables.set(object.kind, table);
      }
      table.add(object);
      this.#listeners?.add(object);
    }
  }

  async end(passed: Passed): Promise<void> {
    const tables = [...this.#tables.values()];
    const { allNamespaces } = this.#options;
    const texts = tables.map((table) => table.format({ allNamespaces, isNamed: tables.length > 1 }));
    const listeners = this.#listeners?.format({ allNamespaces, isNamed: true }) ?? '';
    await printTables([...texts, listeners], passed);
  }
}

class ListenerPrinter implements Printer {
  readonly #options: StatusOptions;
  readonly #table: Table;

  constructor(options: StatusOptions) {
    this.#options = options;
    this.#table = Table.ofListeners(tableOptions(options));
  }

  async add(objects: readonly ListedObject[]): Promise<void> {
    for (const object of objects) this.#table.add(object);
  }

  async end(passed: Passed): Promise<void> {
    await printTables([this.#table.format({ ...this.#options, isNamed: false })], passed);
  }
}

async function showOverview(client: StatusClient, options: StatusOptions): Promise<number> {
  const answered = await client.overview();
  if (!answered.ok) return complain(answered.error.message, answered.error.status);
  const overview = answered.value;
  const tables = [formatOverview(overview, tableOptions(options))];
  for (const kind of OVERVIEW_KINDS) {
    const total = overview.objects[kind] ?? 0;
    const table = Table.ofKind(kind, tableOptions(options));
    for await (const page of total === 0 ? [] : client.pages({ kind, limit: OVERVIEW_ROWS })) {
      if (!page.ok) return complain(page.error.message, page.error.status);
      for (const object of page.value.items) table.add(object);
    }
    const more = total > OVERVIEW_ROWS ? `… and ${total - OVERVIEW_ROWS} more ${kind}\n` : '';
    tables.push(table.format({ ...options, isNamed: true }) + more);
  }
  await printTables(tables, { ...overview, count: tables.length });
  return overview.faultCount === 0 ? EXIT.ok : EXIT.failed;
}

async function printTables(
  tables: readonly string[],
  { count, faults, faultCount }: Pick<Passed, 'count' | 'faults' | 'faultCount'>,
): Promise<void> {
  if (count === 0) return await print('no objects found\n');
  const told = formatFaults(faults.slice(0, MAX_FAULTS), faultCount, painterFor(process.stdout));
  await print([...tables, told].filter((text) => text !== '').join('\n'));
}

function tableOptions({ output }: StatusOptions): TableOptions {
  return { wide: output === 'wide', now: new Date(), paint: painterFor(process.stdout) };
}

/** A pipe takes what it can: 100,000 objects must not wait in memory for it. */
async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}
