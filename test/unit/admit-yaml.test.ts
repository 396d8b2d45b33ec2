/**
 * Reading YAML: places, limits, and agreement with a second parser.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { admitText, MAX_ALIASES, MAX_BYTES, MAX_DEPTH } from '../../src/admit/index.js';
import { readDocuments } from '../../src/admit/yaml-document.js';
import type { YamlNode } from '../../src/admit/yaml-node.js';
import { spanAt } from '../../src/gateway-api/index.js';

function codes(text: string): string[] {
  return admitText('input.yaml', text).diagnostics.map(({ code, span }) => `${code} ${span.line}:${span.column}`);
}

function toValue(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'sequence') return node.items.map(toValue);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, toValue(value)]));
}

function valuesOf(text: string): unknown[] {
  return readDocuments(text).map((document) => (document.ok ? toValue(document.root) : document.fault.code));
}

const BACKEND = `apiVersion: weirgate.dev/v1alpha1
kind: Backend
metadata: {name: web}
spec:
  endpoints:
    - {address: 192.0.2.20, port: 8080}
`;

describe('documents', () => {
  it.each([
    [
      'plain scalars follow YAML 1.2',
      'a: [no, 012, 0o17, 0x1f, 1.5, 1e3, ~, "", yes, True, .5, -3]',
      ['no', 12, 15, 31, 1.5, 1000, null, '', 'yes', true, 0.5, -3],
    ],
    ['tags decide', 'a: [!!str 8080, !!int "7", ! x, !!bool true]', ['8080', 7, 'x', true]],
    ['block scalars keep their lines', 'a:\n  - |\n    x\n     y\n  - >-\n    x\n    y\n', ['x\n y\n', 'x y']],
    ['aliases stand for what they name', 'b: &b {c: 1}\na: [*b, *b]', [{ c: 1 }, { c: 1 }]],
  ])('%s', (_, text, expected) => {
    expect((valuesOf(text)[0] as { a: unknown }).a).toEqual(expected);
  });

  it('merge keys fill in what the map does not say itself', () => {
    expect(valuesOf('base: &base {a: 1, b: 2}\nx:\n  <<: *base\n  b: 3\n')[0]).toMatchObject({ x: { a: 1, b: 3 } });
  });

  it('markers end a document even in a block scalar, and directives belong to the next one', () => {
    expect(valuesOf('# nothing\n---\na: |\n  x\n--- # second\nb: 1\n...\n%YAML 1.2\n---\nc: 1\n')).toEqual([
      { a: 'x\n' },
      { b: 1 },
      { c: 1 },
    ]);
  });

  it('a fault spoils its own document only', () => {
    const file = admitText('input.yaml', `a: [\n---\n${BACKEND}---\nb: "x\n`);
    expect(file.resources.map(({ metadata }) => metadata.name)).toEqual(['web']);
    expect(file.diagnostics.map(({ code }) => code)).toEqual(['WG1003', 'WG1003']);
  });

  it('agrees with a second parser on anything that can be written down', () => {
    const scalar = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(null));
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        scalar,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.string({ minLength: 1 }), tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(value, fc.boolean(), (input, flow) => {
        const text = stringify({ root: input }, { version: '1.2', ...(flow ? { collectionStyle: 'flow' } : {}) });
        // YAML cannot hold every character; what the second parser cannot read back is no question for the first.
        fc.pre(JSON.stringify(parse(text)) === JSON.stringify({ root: input }));
        expect(valuesOf(text)[0]).toEqual({ root: input });
      }),
      { numRuns: 300 },
    );
  });

  it('never throws, and shows every fault inside of the text', () => {
    const piece = fc.constantFrom(
      'a',
      ': ',
      '\n',
      '  ',
      '- ',
      '"',
      "'",
      '[',
      ']',
      '{',
      '}',
      '&x ',
      '*x',
      '|',
      '\t',
      '#',
      '---\n',
      '<<',
      'é',
      '😀',
      '\r',
      '!!str ',
      ',',
      '? ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        const lines = text.split(/\r\n|\n|\r/);
        for (const { span } of admitText('input.yaml', text).diagnostics) {
          expect(span.line).toBeGreaterThan(0);
          expect(span.line).toBeLessThanOrEqual(lines.length);
          expect(span.column).toBeGreaterThan(0);
          expect(span.column).toBeLessThanOrEqual([...(lines[span.line - 1] ?? '')].length + 1);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('limits', () => {
  it('a document of 10 MB is refused, a file of many small ones is not', () => {
    expect(codes(`a: ${'x'.repeat(MAX_BYTES)}`)).toEqual(['WG1002 1:1']);
    expect(codes(`a: ${'é'.repeat(MAX_BYTES / 2)}`)).toEqual(['WG1002 1:1']);
    const part = `---\n# ${'x'.repeat(1_000_000)}\n${BACKEND}`;
    expect(codes(Array.from({ length: 11 }, (_, n) => part.replace('web', `web-${n}`)).join(''))).toEqual([]);
  });

  it('nesting beyond the limit is refused', () => {
    const nested = (depth: number): string => `a: ${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}`;
    expect(valuesOf(nested(MAX_DEPTH))[0]).not.toBe('WG1004');
    expect(valuesOf(nested(MAX_DEPTH + 1))[0]).toBe('WG1004');
    expect(valuesOf('[\n'.repeat(100_000))[0]).toBe('WG1004');
  });

  it('more aliases than the limit are refused', () => {
    const text = (count: number): string => `a: &a 1\nb: [${Array(count).fill('*a').join(', ')}]`;
    expect(valuesOf(text(MAX_ALIASES))[0]).not.toBe('WG1005');
    expect(valuesOf(text(MAX_ALIASES + 1))[0]).toBe('WG1005');
  });

  it('an alias bomb is refused before it grows', () => {
    const bomb = ['a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]'];
    for (let level = 1; level < 9; level++)
      bomb.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      );
    const before = process.memoryUsage().heapUsed;
    expect(valuesOf(bomb.join('\n'))).toEqual(['WG1005']);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000);
  });

  it('an alias inside of what it names is refused', () => {
    expect(valuesOf('a: &a [*a]')).toEqual(['WG1005']);
    expect(valuesOf('a: *nobody')).toEqual(['WG1005']);
  });

  it.each([
    ['hostnames: [*.example.com]', 'put the text into quotes: "*.example.com"'],
    ['a: *nobody', 'mark the value that is meant with &nobody'],
    ['a: *', 'put the text into quotes: "*"'],
  ])('%s is refused with what to write: %s', (text, hint) => {
    expect(admitText('a.yaml', text).diagnostics).toMatchObject([{ hint }]);
  });
});

describe('places', () => {
  it('columns count code points, whatever the line ends and the byte order mark', () => {
    const lines = [
      '\ufeffapiVersion: weirgate.dev/v1alpha1',
      'kind: Backend',
      'metadata: {name: web, annotations: {"😀é": 1}}',
    ];
    for (const end of ['\n', '\r\n', '\r']) {
      const [first] = admitText('input.yaml', `${lines.join(end)}${end}`).diagnostics;
      expect(first?.span).toEqual({ file: 'input.yaml', line: 3, column: 37 });
    }
  });

  it('a path leads to its value, a missing one to the key of its nearest parent', () => {
    const [backend] = admitText('input.yaml', BACKEND).resources;
    if (backend === undefined) throw new Error('not admitted');
    const place = (path: string): string => {
      const { line, column } = spanAt(backend, path);
      return `${line}:${column}`;
    };
    expect(place('')).toBe('1:1');
    expect(place('kind')).toBe('2:7');
    expect(place('metadata.name')).toBe('3:18');
    expect(place('spec.endpoints[0]')).toBe('6:7');
    expect(place('spec.endpoints[0].port')).toBe('6:35');
    expect(place('spec.endpoints[0].weight')).toBe('6:7');
    expect(place('spec.endpoints[7].port')).toBe('5:3');
    expect(place('spec.nothing.here')).toBe('4:1');
  });

  it('survive a structured clone', () => {
    const file = admitText('input.yaml', BACKEND);
    expect(structuredClone(file)).toEqual(file);
  });
});
