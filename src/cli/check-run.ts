/**
 * Reads, admits, resolves and compiles as a start would, without side effects. Serves `check.ts`, which prints the result.
 */
import { type AdmittedFile, admitSnapshot, admitText } from '../admit/index.js';
import { type Diagnostic, hasErrors, type SourceSpan, wholeFile } from '../base/index.js';
import { CompileError } from '../compile/compile-error.js';
import { SlotBook } from '../compile/slot-book.js';
import { objectLabel, type Resource, spanAt } from '../gateway-api/index.js';
import type { ListedObject, Overview } from '../ipc/admin-protocol.js';
import type { IrSocket } from '../ir/ir.js';
import { type BuildResult, build } from '../pipeline.js';
import { readHostFacts } from '../primary/host-facts.js';
import { listObject } from '../primary/object-list.js';
import { judgeLifetimes } from '../resolve/index.js';
import { readFolder } from '../sources/files.js';
import type { ObjectStatus } from '../status/index.js';
import { judgePorts, readPortFacts } from './check-ports.js';

/** What a start with these files would find. */
export interface CheckResult {
  readonly files: number;
  /** Content by file, for code frames. */
  readonly texts: ReadonlyMap<string, string>;
  readonly diagnostics: readonly Diagnostic[];
  readonly objects: readonly ListedObject[];
}

/** Asks the running instance for its overview; undefined without one. */
export type AskOverview = () => Promise<Overview | undefined>;

/** Checks everything below the paths. `askOverview` is called only when ports are in use: they may be the instance's own. */
export async function runCheck(paths: readonly string[], askOverview: AskOverview): Promise<CheckResult> {
  const folder = await readFolder(paths);
  const admitted: AdmittedFile[] = folder.files.map(({ file, text }) => admitText(file, text));
  const snapshot = admitSnapshot(admitted);
  let diagnostics: Diagnostic[] = [...folder.diagnostics, ...snapshot.diagnostics];
  if (folder.files.length === 0 && !hasErrors(diagnostics)) diagnostics.push(noFiles(paths));
  let result: BuildResult | undefined;
  try {
    const facts = { ...readHostFacts(), bindFailures: [], assignedAddresses: {} };
    result = build(snapshot, facts, new SlotBook(), 1);
    const lifetimes = judgeLifetimes(snapshot, result.ir, Date.now());
    const ports = await checkPorts(result, snapshot.resources, askOverview);
    // Not by push: a call does not take a hundred thousand arguments.
    diagnostics = [...diagnostics, ...result.diagnostics, ...lifetimes, ...ports];
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    diagnostics.push(tooLarge(paths, error.message));
  }
  return {
    files: folder.files.length,
    texts: new Map(folder.files.map(({ file, text }) => [file, text])),
    diagnostics,
    objects: listObjects(snapshot.resources, result?.status ?? []),
  };
}

async function checkPorts(
  { ir }: BuildResult,
  resources: readonly Resource[],
  askOverview: AskOverview,
): Promise<Diagnostic[]> {
  const facts = readPortFacts();
  const isHeld = ir.sockets.some(({ port }) => facts.listening.some((held) => held.port === port));
  const overview = isHeld ? await askOverview() : undefined;
  return judgePorts(ir.sockets, facts, overview?.pid ?? 0, (socket) => {
    const names = socket.listeners.map((index) => ir.listeners[index]?.name ?? '');
    return placeOfListener(names[0] ?? '', resources, socket);
  });
}

/** IR listeners are named `namespace/gateway/listener`, those of ListenerSets `namespace/gateway/setNamespace/set/listener`. */
function placeOfListener(
  name: string,
  resources: readonly Resource[],
  socket: IrSocket,
): { readonly object: string; readonly path: string; readonly span: SourceSpan } {
  const parts = name.split('/');
  const kind = parts.length > 3 ? 'ListenerSet' : 'Gateway';
  const [namespace = '', ownerName = '', listenerName = ''] = parts.slice(-3);
  const owner = resources.find(
    (resource) =>
      resource.kind === kind && resource.metadata.namespace === namespace && resource.metadata.name === ownerName,
  );
  if (owner?.kind !== 'Gateway' && owner?.kind !== 'ListenerSet') {
    return { object: name, path: '', span: wholeFile(socket.key) };
  }
  const index = owner.spec.listeners.findIndex((listener) => listener.name === listenerName);
  const path = `spec.listeners[${index}].port`;
  return { object: objectLabel(kind, namespace, ownerName), path, span: spanAt(owner, path) };
}

function listObjects(resources: readonly Resource[], statuses: readonly ObjectStatus[]): ListedObject[] {
  const byLabel = new Map(
    statuses.map(({ kind, namespace, name, status }) => [objectLabel(kind, namespace, name), { ...status }]),
  );
  return resources.map(({ status, ...resource }) => {
    const { kind, metadata } = resource;
    // What others wrote is of no interest before the object serves.
    return listObject(resource as Resource, byLabel.get(objectLabel(kind, metadata.namespace, metadata.name)));
  });
}

function noFiles(paths: readonly string[]): Diagnostic {
  return {
    severity: 'warning',
    code: 'WG1010',
    object: '',
    path: '',
    message: 'there is no *.yaml file here',
    hint: 'name files, or a folder that has some',
    span: wholeFile(paths[0] ?? ''),
  };
}

function tooLarge(paths: readonly string[], message: string): Diagnostic {
  const hint = 'spread the configuration over several instances';
  return { severity: 'error', code: 'WG4093', object: '', path: '', message, hint, span: wholeFile(paths[0] ?? '') };
}
