/**
 * Prints the pages below docs/ that are made of the ledger and of the code: rules, features, codes. `npm run docs` writes them, a test
 * holds that they are up to date.
 */
import { CAPABILITIES } from '../../src/compile/capabilities.js';
import { ALL_CAPABILITIES, type Capability } from '../../src/model/capabilities.js';
import { FEATURE_NAMES, supportedFeatures } from '../../src/resolve/features.js';
import { type ConditionEntry, keyOf, type Shown } from './conditions.js';
import { parseReference, type Rule, type Section } from './ledger.js';

/** What a data plane still lacks, by the issue that brings it. */
const COMING: Readonly<Record<number, string>> = { 5: 'TLS', 6: 'HTTP in full', 7: 'UDP' };

/** Capabilities that come with TLS. */
const OF_TLS = /^(?:tls\/|protocol\/(?:HTTPS|TLS)$|upstream\/(?:tls|clientCertificate)$)/;

/** Feature names about meshes; a gateway has nothing to do with them. */
const MESH_FEATURES = 10;

/** Most cases that are named for a condition. */
const MOST_EXAMPLES = 3;

const MADE_BY = '<!-- Printed by `npm run docs` from test/conformance; edit there. -->';

/** Returns docs/conformance.md: every rule with its cases, a table a section. */
export function printRules(sections: readonly Section[]): string {
  const rules = sections.flatMap((section) => section.rules);
  const count = (level: Rule['level']): number => rules.filter((rule) => rule.level === level).length;
  const waiting = rules.filter(({ issue }) => issue !== undefined).length;
  return page(
    'Rules of the Gateway API',
    `Every rule of the Gateway API that concerns a gateway, in our own words, and the tests that hold it: ${count('must')} that it demands, ` +
      `${count('should')} that it recommends, ${count('may')} that it leaves open and how we decided. A name leads to its case: an ` +
      'input, the status that it gets, what the data plane is told to do, and the diagnostics.',
    `*Held by* is about admission, status and what the data plane is told. *In traffic* is about what clients and endpoints see; ${waiting} ` +
      'rules wait there for a part of the data plane, which until then is answered as the API wants it for what is not supported: see ' +
      '[features](features.md).',
    'Not here: what concerns meshes only, and what only a connection to an API server can do (finalizers, versions of CRDs), which comes ' +
      'with the Kubernetes source.',
    ...sections.flatMap(({ title, rules: own }) => [
      `## ${title}`,
      table(
        ['rule', 'level', 'what it says', 'source', 'held by', 'in traffic'],
        own.map((rule) => [
          `\`${rule.id}\``,
          rule.level.toUpperCase(),
          rule.rule,
          rule.source,
          (rule.tests ?? []).map(link).join('<br>'),
          [...(rule.traffic ?? []).map(link), ...coming(rule)].join('<br>'),
        ]),
      ),
    ]),
  );
}

/** Returns docs/features.md: what is supported, by feature name. */
export function printFeatures(sections: readonly Section[]): string {
  const shipped = new Set(supportedFeatures(CAPABILITIES));
  const rules = sections.flatMap((section) => section.rules);
  return page(
    'Features',
    `The specification names ${FEATURE_NAMES.length} features of a gateway (and ${MESH_FEATURES} of a mesh, which is not our business). ` +
      `This version supports ${shipped.size} of them; they are in \`status.supportedFeatures\` of a GatewayClass of ours.`,
    '**yes**: works. **partly**: works as far as it goes, but lacks a part that the API calls core, so it is not claimed. **judged**: ' +
      'admission, references, conflicts and status are complete and tested, the data plane does not carry it out yet; ' +
      'objects that ask for it get the condition that the API has for what is not supported, and never less protection than they ask for. ' +
      '**no**: read and checked, not carried out, told.',
    table(
      ['feature', 'supported', 'comes with', 'rules'],
      FEATURE_NAMES.map((name) => {
        const own = rules.filter(({ feature }) => feature === name);
        const state = stateOf(name);
        return [name, state, lacking(name).join(', '), own.map(({ id }) => `\`${id}\``).join(' ')];
      }),
    ),
  );
}

/** Returns docs/conditions.md: every condition that a status may have, with cases that show it. */
export function printConditions(entries: readonly ConditionEntry[], shown: Shown): string {
  return page(
    'Conditions',
    'What the status of an object may say, apart from what everybody wants: True with the reason of the type (Accepted, Programmed, ' +
      'ResolvedRefs, AddressesAssigned), or Conflicted=False. A ListenerEntry is a listener of a ListenerSet; a Route has its conditions for ' +
      'each parent, a BackendTLSPolicy for each Gateway.',
    ...[...new Set(entries.map(({ owner }) => owner))].flatMap((owner) => [
      `## ${owner}`,
      table(
        ['condition', 'status and reason', 'means', 'for example'],
        entries
          .filter((entry) => entry.owner === owner)
          .map((entry) => [
            entry.type,
            entry.value,
            entry.never === undefined ? entry.meaning : `*never:* ${entry.never}`,
            (shown.get(keyOf(entry)) ?? []).slice(0, MOST_EXAMPLES).map(link).join('<br>'),
          ]),
      ),
    ]),
  );
}

/** A diagnostic code with what it means, and a line that shows it. */
export interface CodeEntry {
  readonly code: string;
  readonly meaning: string;
  readonly example: string;
}

/** Returns docs/codes.md: the codes of diagnostics by their first digit. */
export function printCodes(entries: readonly CodeEntry[]): string {
  const groups: readonly (readonly [digit: string, title: string])[] = [
    ['1', 'Reading: files, YAML, limits'],
    ['2', 'Structure: kinds, fields, types'],
    ['3', 'Rules of the kinds'],
    ['4', 'References and findings'],
  ];
  return page(
    'Codes of diagnostics',
    '`weirgate check` and the log give every fault a code, which is never given a second meaning. An object with an error of 1, 2 or 3 is not ' +
      'taken; those of 4 are about objects that are taken and become conditions where the API has one.',
    ...groups.flatMap(([digit, title]) => [
      `## ${title}`,
      table(
        ['code', 'meaning', 'for example'],
        entries
          .filter(({ code }) => code.startsWith(`WG${digit}`))
          .map(({ code, meaning, example }) => [
            `<a id="${code}"></a>${code}`,
            meaning,
            example === '' ? '' : asCode(example),
          ]),
      ),
    ]),
  );
}

function stateOf(name: string): string {
  if (supportedFeatures(CAPABILITIES).includes(name)) return '**yes**';
  if (!supportedFeatures(new Set(ALL_CAPABILITIES)).includes(name)) return 'no';
  return takenBy(name).some((one) => CAPABILITIES.has(one)) ? 'partly' : 'judged';
}

/** The capabilities that a feature takes: those without which it is gone. */
function takenBy(name: string): Capability[] {
  return ALL_CAPABILITIES.filter(
    (one) => !supportedFeatures(new Set(ALL_CAPABILITIES.filter((other) => other !== one))).includes(name),
  );
}

/** The parts of the data plane that a feature waits for. */
function lacking(name: string): string[] {
  if (stateOf(name) === 'no') return [];
  const parts = takenBy(name)
    .filter((one) => !CAPABILITIES.has(one))
    .map((one) => COMING[one === 'protocol/UDP' ? 7 : OF_TLS.test(one) ? 5 : 6] ?? '');
  return [...new Set(parts)].sort();
}

function coming({ issue }: Rule): string[] {
  return issue === undefined ? [] : [`*with ${COMING[issue] ?? `part ${issue}`}*`];
}

function page(title: string, ...blocks: readonly string[]): string {
  return `${[MADE_BY, `# ${title}`, ...blocks].join('\n\n')}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

function asCode(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}

/** A link to what a reference names, from docs/. */
function link(text: string): string {
  const reference = parseReference(text);
  switch (reference.kind) {
    case 'golden':
      return `[${escapeMarkdown(reference.name)}](../test/golden/${encodeURIComponent(reference.name)}/)`;
    case 'corpus':
      return `[${escapeMarkdown(reference.id)}](../test/conformance/corpus/${reference.id.split(':')[0]}.yaml)`;
    case 'test':
      return `[${escapeMarkdown(reference.title)}](../${reference.file})`;
  }
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\[\]*_<>`$]/g, '\\$&');
}
