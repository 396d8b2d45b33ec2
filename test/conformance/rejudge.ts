/**
 * `npm run judge:admission`: asks a real API server about every case and writes `verdicts/` anew, under the definitions of the Gateway
 * API that go.mod names and under those of the version that we follow. Needs Go; the first compile takes minutes. See README.md.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Case, readCases } from './cases.js';
import { type Answer, type DefinedRule, type Judgement, type Verdict, verdictOf, writeJudgements } from './verdicts.js';

const JUDGE = fileURLToPath(new URL('judge', import.meta.url));

/** The version of the Gateway API that we follow where it differs from the one that the judge compiles. */
const LATER_VERSION = 'v1.7.0';

/** Writes the verdicts. Throws when a case has none. */
export function rejudge(): void {
  const cases = readCases();
  const judged = ask(cases, []);
  const later = ask(cases, ['--gateway-api', LATER_VERSION]);
  writeJudgements(judged, later);
  const all = [...judged.verdicts.values()].flatMap((verdicts) => Object.values(verdicts));
  const accepted = all.filter(({ adds }) => adds !== undefined).length;
  console.log(`${all.length} verdicts: ${accepted} accepted, ${all.length - accepted} refused`);
}

function ask(cases: readonly Case[], options: readonly string[]): Judgement {
  const folder = mkdtempSync(join(tmpdir(), 'weirgate-judge-'));
  try {
    const [questions, answers, rules] = ['cases', 'answers', 'rules'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const lines = cases.map(({ group, name, text }) => JSON.stringify({ name: `${group}: ${name}`, text }));
    writeFileSync(questions, `${lines.join('\n')}\n`);
    const flags = ['admission', '--cases', questions, '--answers', answers, '--rules', rules, ...options];
    const { status, error } = spawnSync(JUDGE, flags, { stdio: 'inherit' });
    if (status !== 0) throw error ?? new Error(`the judge ended with status ${status}`);
    const given = readFileSync(answers, 'utf8').trimEnd().split('\n');
    const groups = new Map<string, Record<string, Verdict>>();
    for (const [index, asked] of cases.entries()) {
      const verdicts = groups.get(asked.group) ?? {};
      groups.set(asked.group, verdicts);
      verdicts[asked.name] = verdictOf(asked, JSON.parse(given[index] ?? 'null') as Answer);
    }
    return { verdicts: groups, rules: JSON.parse(readFileSync(rules, 'utf8')) as readonly DefinedRule[] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
