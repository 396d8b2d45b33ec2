/**
 * `npm run judge:admission`: asks a real API server about every case and writes `verdicts/` anew. Needs Go; the first compile takes
 * minutes. See README.md.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readCases } from './cases.js';
import { type Answer, type Verdict, verdictOf, writeVerdicts } from './verdicts.js';

const JUDGE = fileURLToPath(new URL('judge', import.meta.url));

/** Returns the exit status: 0 when every case has a verdict. */
export function rejudge(): number {
  const folder = mkdtempSync(join(tmpdir(), 'weirgate-judge-'));
  try {
    const cases = readCases();
    const [questions, answers] = [join(folder, 'cases'), join(folder, 'answers')];
    const lines = cases.map(({ group, name, text }) => JSON.stringify({ name: `${group}: ${name}`, text }));
    writeFileSync(questions, `${lines.join('\n')}\n`);
    const { status } = spawnSync(JUDGE, ['admission', '--cases', questions, '--answers', answers], {
      stdio: 'inherit',
    });
    if (status !== 0) return status ?? 1;
    const given = readFileSync(answers, 'utf8').trimEnd().split('\n');
    const groups = new Map<string, Record<string, Verdict>>();
    for (const [index, asked] of cases.entries()) {
      const verdicts = groups.get(asked.group) ?? {};
      groups.set(asked.group, verdicts);
      verdicts[asked.name] = verdictOf(asked, JSON.parse(given[index] ?? 'null') as Answer);
    }
    writeVerdicts(groups);
    const all = [...groups.values()].flatMap((verdicts) => Object.values(verdicts));
    const accepted = all.filter(({ adds }) => adds !== undefined).length;
    console.log(`${all.length} verdicts: ${accepted} accepted, ${all.length - accepted} refused`);
    return 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
