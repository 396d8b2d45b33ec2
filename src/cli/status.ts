/**
 * `weirgate status [KIND [NAME]]`: what a running instance serves and what is wrong with it.
 */
import { Command, Option } from 'commander';
import { err, ok, type Result } from '../base/index.js';
import { objectLabel } from '../gateway-api/index.js';
import { askAdmin } from '../ipc/admin-client.js';
import { type Fault, type ListedObject, MAX_FAULTS, type ObjectList, type Overview } from '../ipc/admin-protocol.js';
import { faultsOf } from '../primary/faults.js';
import { complain, findAdminSocket, painterFor } from './defaults.js';
import { EXIT } from './exit-status.js';
import { parseKinds } from './kind-names.js';
import { formatJson, formatYaml } from './output.js';
import { formatFaults, formatObjects, formatOverview, type TableOptions } from './status-tables.js';

const FORMATS = ['table', 'wide', 'json', 'yaml'] as const;

interface StatusOptions {
  readonly namespace: string | undefined;
  readonly allNamespaces: boolean;
  readonly output: (typeof FORMATS)[number];
  readonly admin: string | undefined;
}

/** A list of 100,000 objects takes some seconds, and waits for a build that runs. */
const TIMEOUT_MS = 60_000;
/** Kinds that the overview shows as tables, and how many objects of each. */
const OVERVIEW_KINDS = ['GatewayClass', 'Gateway', 'HTTPRoute', 'TCPRoute'] as const;
const OVERVIEW_ROWS = 20;

/** Returns the command. Exit status: 0 all programmed · 1 something is not, or does not exist · 4 no instance. */
export function statusCommand(): Command {
  return new Command('status')
    .summary('say what the running instance serves, and what is wrong with it')
    .argument('[kind]', 'gateways, httproutes, routes, backends, …; several with commas; without it an overview')
    .argument('[name]', 'one object of that kind')
    .option('-n, --namespace <namespace>', 'objects of one namespace (default: of all)')
    .option('-A, --all-namespaces', 'objects of all namespaces, with a column that says which', false)
    .addOption(new Option('-o, --output <format>', 'how to print').choices(FORMATS).default('table'))
    .option('--admin <address>', 'admin socket of the running instance, unix:PATH')
    .action(async (kind: string | undefined, name: string | undefined, options: StatusOptions) => {
      process.exitCode = await status(kind, name, options);
    });
}

async function status(word: string | undefined, name: string | undefined, options: StatusOptions): Promise<number> {
  const kinds = word === undefined ? ok(undefined) : parseKinds(word);
  if (!kinds.ok) return complain(kinds.error, EXIT.usage);
  const socket = findAdminSocket(options.admin);
  if (!socket.ok) return complain(socket.error, EXIT.usage);
  const ask = new Asker(socket.value);
  const isTable = options.output === 'table' || options.output === 'wide';
  if (kinds.value === undefined && options.namespace === undefined && isTable) return await showOverview(ask, options);

  const found = await ask.objects(kinds.value ?? [undefined], { name, namespace: options.namespace });
  if (!found.ok) return complain(found.error.message, found.error.status);
  const list = found.value;
  if (name !== undefined && list.items.length === 0) {
    return complain(`the instance has no ${word} named ${name}`, EXIT.failed);
  }
  const faults = list.items.flatMap(faultsOfObject);
  process.stdout.write(isTable ? formatList(list.items, faults, options) : formatPlain(list, options.output));
  return faults.length === 0 ? EXIT.ok : EXIT.failed;
}

function formatPlain(list: ObjectList, output: StatusOptions['output']): string {
  return output === 'yaml' ? formatYaml(list) : formatJson(list);
}

function formatList(items: readonly ListedObject[], faults: readonly Fault[], options: StatusOptions): string {
  if (items.length === 0) return 'no objects found\n';
  const tables = groupByKind(items).map((objects) =>
    formatObjects(objects, options.allNamespaces, tableOptions(options)),
  );
  return withFaults(tables, faults, faults.length);
}

async function showOverview(ask: Asker, options: StatusOptions): Promise<number> {
  const answered = await ask.overview();
  if (!answered.ok) return complain(answered.error.message, answered.error.status);
  const overview = answered.value;
  const tables = [formatOverview(overview, tableOptions(options))];
  for (const kind of OVERVIEW_KINDS) {
    const total = overview.objects[kind] ?? 0;
    if (total === 0) continue;
    const found = await ask.objects([kind], { limit: OVERVIEW_ROWS });
    if (!found.ok) return complain(found.error.message, found.error.status);
    const { items } = found.value;
    const more = total > items.length ? `… and ${total - items.length} more ${kind}\n` : '';
    tables.push(formatObjects(items, options.allNamespaces, tableOptions(options)) + more);
  }
  process.stdout.write(withFaults(tables, overview.faults, overview.faultCount));
  return overview.faultCount === 0 && overview.generation > 0 ? EXIT.ok : EXIT.failed;
}

function withFaults(tables: readonly string[], faults: readonly Fault[], total: number): string {
  const text = formatFaults(faults.slice(0, MAX_FAULTS), total, painterFor(process.stdout));
  return [...tables, ...(text === '' ? [] : [text])].join('\n');
}

function tableOptions({ output }: StatusOptions): TableOptions {
  return { wide: output === 'wide', now: new Date(), paint: painterFor(process.stdout) };
}

function faultsOfObject({ kind, metadata, status: found }: ListedObject): Fault[] {
  return faultsOf(objectLabel(kind, metadata.namespace ?? '', metadata.name), found);
}

function groupByKind(items: readonly ListedObject[]): ListedObject[][] {
  const groups = new Map<string, ListedObject[]>();
  for (const item of items) {
    const group = groups.get(item.kind) ?? [];
    group.push(item);
    groups.set(item.kind, group);
  }
  return [...groups.values()];
}

interface AskFailure {
  readonly message: string;
  readonly status: number;
}

interface ObjectQuery {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly limit?: number;
}

/** Asks one instance. */
class Asker {
  readonly #socket: string;

  constructor(socket: string) {
    this.#socket = socket;
  }

  overview(): Promise<Result<Overview, AskFailure>> {
    return this.#get<Overview>('/overview');
  }

  /** Returns the objects of all these kinds in one list; `undefined` stands for every kind. */
  async objects(kinds: readonly (string | undefined)[], query: ObjectQuery): Promise<Result<ObjectList, AskFailure>> {
    let joined: ObjectList | undefined;
    for (const kind of kinds) {
      const wanted = Object.entries({ ...query, kind }).filter(([, value]) => value !== undefined);
      const parameters = new URLSearchParams(wanted.map(([key, value]): [string, string] => [key, String(value)]));
      const answered = await this.#get<ObjectList>(`/objects?${parameters}`);
      if (!answered.ok) return answered;
      const items: readonly ListedObject[] = [...(joined?.items ?? []), ...answered.value.items];
      joined = { ...answered.value, items };
    }
    return joined === undefined ? err({ message: 'no kind was named', status: EXIT.usage }) : ok(joined);
  }

  async #get<T>(target: string): Promise<Result<T, AskFailure>> {
    const answer = await askAdmin(this.#socket, 'GET', target, { timeoutMs: TIMEOUT_MS });
    if (!answer.ok) return err({ message: answer.error.message, status: EXIT.unreachable });
    const { status: code, body } = answer.value;
    if (code === 200) return ok(JSON.parse(body) as T);
    return err({ message: `the instance answered ${code} to GET ${target}: ${body.trim()}`, status: EXIT.failed });
  }
}
