/**
 * `weirgate explain`: what a field means, and what becomes of a request and why.
 */
import { isIP } from 'node:net';
import { Command, Option } from 'commander';
import { admitSnapshot, admitText } from '../admit/index.js';
import { err, hasErrors, ok, type Result } from '../base/index.js';
import { CAPABILITIES } from '../compile/compile.js';
import { explainUrl, parseUrl, type Question } from '../explain/explain-url.js';
import { askAdmin } from '../ipc/admin-client.js';
import type { Ir } from '../ir/ir.js';
import { plan } from '../pipeline.js';
import { readHostFacts } from '../primary/host-facts.js';
import { readFolder } from '../sources/files.js';
import { complain, findAdminSocket, painterFor } from './defaults.js';
import { EXIT } from './exit-status.js';
import { findField, formatField } from './explain-field.js';
import { buildRequestReport, formatRequestReport } from './explain-request.js';
import { formatJson, formatYaml } from './output.js';
import { withinTime } from './time-limit.js';

const FORMATS = ['text', 'json', 'yaml'] as const;

interface RequestOptions {
  readonly header: readonly string[];
  readonly sni: string | undefined;
  readonly address: string | undefined;
  readonly config: readonly string[];
  readonly admin: string | undefined;
  readonly output: (typeof FORMATS)[number];
}

/** A method is a token (RFC 9110 §9.1); `-`, which is one as well, stands for none. */
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** The IR of a large configuration takes the instance a while. */
const IR_TIMEOUT_MS = 60_000;

/** A hundred thousand routes take a fraction of this; some regular expressions take for ever, see `time-limit.ts`. */
const EXPLAIN_TIMEOUT_MS = 20_000;

/** Returns the command. Exit status: 0 answered · 1 the files have errors · 2 usage · 4 no instance. */
export function explainCommand(): Command {
  return new Command('explain')
    .summary('say what a field means, or what becomes of a request')
    .description('Says what a field of the configuration means, or what becomes of a request and why.')
    .argument('<field>', 'a kind or field, such as httproute.spec.rules.matches')
    .action((field: string) => {
      process.exitCode = explainField(field);
    })
    .addCommand(requestCommand());
}

function requestCommand(): Command {
  const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
  return new Command('request')
    .summary('say what becomes of a request')
    .description(
      'Says which listener, route, rule and backend a request gets, and why each other candidate lost: in the running instance, or with files before they are loaded.',
    )
    .argument('<method>', 'GET, POST, …; CONNECT or - for tls, tcp and udp URLs')
    .argument('<url>', 'http://, https://, tls://, tcp:// or udp:// URL')
    .option('-H, --header <field>', 'a header field, "name: value"; may be repeated', collect, [])
    .option('--sni <name>', 'server name of the TLS handshake; otherwise the host of the URL')
    .option('--address <ip>', 'only the socket with this local address')
    .option(
      '-c, --config <path>',
      'files or folders to judge in place of the running instance; may be repeated',
      collect,
      [],
    )
    .option('--admin <address>', 'admin socket of the running instance, unix:PATH')
    .addOption(new Option('-o, --output <format>', 'how to print the answer').choices(FORMATS).default('text'))
    .action(async (method: string, url: string, options: RequestOptions) => {
      process.exitCode = await explainRequest(method, url, options);
    });
}

function explainField(path: string): number {
  const found = findField(path);
  if (!found.ok) return complain(found.error, EXIT.usage);
  process.stdout.write(formatField(found.value, painterFor(process.stdout)));
  return EXIT.ok;
}

async function explainRequest(method: string, url: string, options: RequestOptions): Promise<number> {
  const question = readQuestion(method, url, options);
  if (!question.ok) return complain(question.error, EXIT.usage);
  const ir = options.config.length > 0 ? await irOfFiles(options.config) : await irOfInstance(options.admin);
  if (!ir.ok) return complain(ir.error.message, ir.error.status);
  const answers = withinTime(EXPLAIN_TIMEOUT_MS, () => explainUrl(ir.value, question.value));
  if (!answers.ok) {
    const seconds = EXPLAIN_TIMEOUT_MS / 1000;
    return complain(`no answer after ${seconds} s: a regular expression is too much for this command`, EXIT.failed);
  }
  const report = buildRequestReport(ir.value, `${method} ${url}`, answers.value);
  switch (options.output) {
    case 'text':
      process.stdout.write(formatRequestReport(report, painterFor(process.stdout)));
      break;
    case 'json':
      process.stdout.write(formatJson(report));
      break;
    case 'yaml':
      process.stdout.write(formatYaml(report));
      break;
  }
  return EXIT.ok;
}

function readQuestion(method: string, url: string, { header, sni, address }: RequestOptions): Result<Question, string> {
  const parsed = parseUrl(url);
  if (!parsed.ok) return parsed;
  if (!METHOD.test(method)) return err(`"${method}" is no method; write one such as GET`);
  if (address !== undefined && !isIP(address)) return err(`"${address}" is no IP address`);
  const headers: (readonly [string, string])[] = [];
  for (const field of header) {
    const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(field) ?? [];
    if (name === undefined || value === undefined) return err(`"${field}" is no header field; write "name: value"`);
    headers.push([name, value]);
  }
  const hosts = headers.filter(([name]) => name.toLowerCase() === 'host').length;
  if (hosts > 1) return err('a request has one Host; with several it is answered with 400');
  return ok({ method, url: parsed.value, headers, serverName: sni, address });
}

interface Failure {
  readonly message: string;
  readonly status: number;
}

/** What a start with these files would serve; objects with errors are left out, as the running instance would not have them. */
async function irOfFiles(paths: readonly string[]): Promise<Result<Ir, Failure>> {
  const folder = await readFolder(paths);
  const snapshot = admitSnapshot(folder.files.map(({ file, text }) => admitText(file, text)));
  const diagnostics = [...folder.diagnostics, ...snapshot.diagnostics];
  if (hasErrors(diagnostics)) {
    const names = paths.join(' ');
    return err({ message: `the configuration has errors: see weirgate check ${names}`, status: EXIT.failed });
  }
  const facts = { ...readHostFacts(), bindFailures: [], assignedAddresses: {} };
  return ok(plan(snapshot, facts, CAPABILITIES).ir);
}

async function irOfInstance(address: string | undefined): Promise<Result<Ir, Failure>> {
  const socket = findAdminSocket(address);
  if (!socket.ok) return err({ message: socket.error, status: EXIT.usage });
  const answer = await askAdmin(socket.value, 'GET', '/ir', { timeoutMs: IR_TIMEOUT_MS });
  if (!answer.ok) return err({ message: `${answer.error.message}; name files with -c`, status: EXIT.unreachable });
  if (answer.value.status !== 200) {
    return err({ message: `the instance answered ${answer.value.status} to GET /ir`, status: EXIT.failed });
  }
  const ir = JSON.parse(answer.value.body) as Ir | null;
  return ir === null ? err({ message: 'the instance serves nothing yet', status: EXIT.failed }) : ok(ir);
}
