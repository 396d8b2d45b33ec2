/**
 * What `check` prints besides the golden texts: formats, colours, columns, changes.
 */
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/base/index.js';
import { diffObjects } from '../../src/cli/check-diff.js';
import { buildReport, codeFrame, exitStatusOf, formatGithub, formatReport } from '../../src/cli/check-report.js';
import { createPainter, formatColumns, formatJson, formatYaml, wantsColour } from '../../src/cli/output.js';
import type { ListedObject } from '../../src/ipc/admin-protocol.js';

const plain = createPainter(false);

function diagnostic(rest: Partial<Diagnostic>): Diagnostic {
  const span = { file: 'a,b.yaml', line: 2, column: 3 };
  return {
    severity: 'error',
    code: 'WG2103',
    object: 'HTTPRoute default/web',
    path: 'spec',
    message: '100% wrong',
    hint: 'do\nit',
    span,
    ...rest,
  };
}

describe('reports', () => {
  const report = buildReport({
    files: 1,
    diagnostics: [diagnostic({ severity: 'warning', span: { file: 'b.yaml', line: 0, column: 0 } }), diagnostic({})],
    objects: [],
  });

  it('are sorted and flat', () => {
    expect(report.summary).toEqual({ files: 1, objects: 0, errors: 1, warnings: 1 });
    expect(report.diagnostics.map(({ file, line, column }) => `${file} ${line} ${column}`)).toEqual([
      'a,b.yaml 2 3',
      'b.yaml 0 0',
    ]);
    expect(JSON.parse(formatJson(report))).toEqual(report);
    expect(load(formatYaml(report))).toEqual(report);
  });

  it('give GitHub one line each, with commas and line ends escaped', () => {
    expect(formatGithub(report)).toBe(
      '::error file=a%2Cb.yaml,line=2,col=3,title=WG2103::HTTPRoute default/web: spec: 100%25 wrong (hint: do%0Ait)\n' +
        '::warning file=b.yaml,title=WG2103::HTTPRoute default/web: spec: 100%25 wrong (hint: do%0Ait)\n',
    );
  });

  it('name the file alone where there is no line, and colour only on demand', () => {
    const text = formatReport(report, new Map(), plain);
    expect(text).toContain('\nb.yaml: warning[WG2103]: ');
    expect(text).not.toContain('\u001b');
    expect(formatReport(report, new Map(), createPainter(true))).toContain('\u001b[31merror[WG2103]\u001b[39m');
  });

  it.each([
    [1, 0, false, 1],
    [0, 1, false, 0],
    [0, 1, true, 3],
    [1, 1, true, 1],
    [0, 0, true, 0],
  ])('%i errors and %i warnings, strict %s: exit status %i', (errors, warnings, strict, status) => {
    const diagnostics = [
      ...Array<Diagnostic>(errors).fill(diagnostic({})),
      ...Array<Diagnostic>(warnings).fill(diagnostic({ severity: 'warning' })),
    ];
    expect(exitStatusOf(buildReport({ files: 1, diagnostics, objects: [] }), strict)).toBe(status);
  });
});

describe('code frames', () => {
  it('never show the content of a Secret, nor a line that may be of one', () => {
    const text = 'kind: Secret\nstringData: { key: hush }\n---\nkind: Gateway\nspec: odd\n';
    const frameOf = (object: string, line: number, content: string): string => {
      const { span } = diagnostic({});
      const report = buildReport({
        files: 1,
        diagnostics: [diagnostic({ object, span: { ...span, file: 'a.yaml', line, column: 1 } })],
        objects: [],
      });
      return formatReport(report, new Map([['a.yaml', content]]), plain);
    };
    const json = JSON.stringify({
      items: [
        { kind: 'Secret', data: { key: 'hush' } },
        { kind: 'Gateway', pad: 'x'.repeat(200) },
      ],
    });
    for (const [object, line, content] of [
      ['Secret default/a', 2, text],
      ['', 2, text],
      ['Gateway default/a', 1, json],
      ['Gateway default/a', 4, 'kind: List\nitems:\n- { kind: Secret, stringData: { key: hush } }\n- kind: Gateway\n'],
    ] as const) {
      expect(frameOf(object, line, content)).not.toContain('hush');
    }
    expect(frameOf('Gateway default/a', 5, text)).toContain('5 | spec: odd');
    expect(frameOf('', 2, text.replace('Secret', 'ConfigMap'))).toContain('hush');
  });

  it('put the caret under the code point, tabs included', () => {
    expect(codeFrame(['a', '\t😀é: x', 'b'], 2, 6, plain)).toBe('  1 | a\n  2 | \t😀é: x\n    | \t    ^\n  3 | b\n');
  });

  it('cut long lines around the caret, and hide control characters', () => {
    const frame = codeFrame(['short', `${'x'.repeat(500)}HERE${'\u001b[31m'.repeat(100)}`, 'short'], 2, 501, plain);
    expect(frame).not.toContain('\u001b');
    const [, marked = '', caret = ''] = frame.split('\n');
    expect(marked.length).toBeLessThan(140);
    expect(marked.slice(caret.indexOf('^')).startsWith('HERE')).toBe(true);
  });
});

describe('columns', () => {
  it('stand three blanks apart, and end without blanks', () => {
    expect(
      formatColumns([
        ['NAME', 'READY', 'AGE'],
        ['é', 'True', ''],
        ['longer', '', '1d'],
      ]),
    ).toBe('NAME     READY   AGE\né        True\nlonger           1d\n');
    expect(formatColumns([])).toBe('');
  });

  it('do not count styles', () => {
    expect(
      formatColumns(
        [
          ['A', 'B'],
          [{ text: 'x', style: 'red' }, 'y'],
        ],
        createPainter(true),
      ),
    ).toBe('A   B\n\u001b[31mx\u001b[39m   y\n');
  });
});

describe('colours', () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ TERM: 'dumb' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
  ])('%j on a terminal %s: %s', (env, isTty, expected) => {
    expect(wantsColour(env, isTty)).toBe(expected);
  });
});

describe('changes', () => {
  const object = (name: string, spec: unknown, generation = 1): ListedObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', generation },
    spec,
    status: { any: generation },
  });

  it('name objects and fields; status and generation do not count', () => {
    const running = [object('a', { x: [1, 2] }), object('b', {}), object('same', { y: 1 }, 1)];
    const checked = [object('same', { y: 1 }, 7), object('a', { x: [1], z: 't' }), object('c', {})];
    const changes = diffObjects(running, checked);
    expect(changes).toEqual([
      {
        object: 'Service default/a',
        change: 'changed',
        fields: [
          { path: 'spec.x[1]', before: '2', after: '' },
          { path: 'spec.z', before: '', after: '"t"' },
        ],
      },
      { object: 'Service default/b', change: 'removed', fields: [] },
      { object: 'Service default/c', change: 'added', fields: [] },
    ]);
    const text = formatReport(buildReport({ files: 1, diagnostics: [], objects: [], changes }), new Map(), plain);
    expect(text).toContain('~ Service default/a\n    spec.x[1]: 2 → (absent)\n');
    expect(text).toContain('- Service default/b\n+ Service default/c\n');
  });
});
