/**
 * One loop over test/golden/check: every file is broken in its own way, the text beside it is what `check` prints about it.
 * `UPDATE_GOLDEN=1` rewrites the texts: read the diff.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { buildReport, exitStatusOf, formatReport } from '../../src/cli/check-report.js';
import { createPainter } from '../../src/cli/output.js';
import { buildText } from '../support/build.js';

const FOLDER = fileURLToPath(new URL('../golden/check', import.meta.url));

const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => file.slice(0, -'.yaml'.length));

describe('broken files', () => {
  it.each(names)('%s is explained', (name) => {
    const text = readFileSync(join(FOLDER, `${name}.yaml`), 'utf8');
    const { diagnostics } = buildText(text);
    const report = buildReport({ files: 1, diagnostics, objects: [] });
    const printed = formatReport(report, new Map([['input.yaml', text]]), createPainter(false));
    const expected = join(FOLDER, `${name}.txt`);
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(expected, printed);
    expect(printed).toBe(existsSync(expected) ? readFileSync(expected, 'utf8') : '');
    expect(exitStatusOf(report, true)).not.toBe(0);
    for (const { line, column, message } of report.diagnostics) {
      expect(line).toBeGreaterThan(0);
      expect(column).toBeGreaterThan(0);
      expect(message).not.toBe('');
    }
  });

  it('there are at least ten', () => {
    expect(names.length).toBeGreaterThanOrEqual(10);
  });
});
