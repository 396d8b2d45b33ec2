/**
 * What holds for whatever somebody writes: admission answers, in time bounded by the size, says where and what to do about it, and
 * what it admits harms nobody later.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admitSnapshot, admitText } from '../../src/admit/index.js';
import { hasErrors } from '../../src/base/index.js';
import { FORMATS, type FormatName, KINDS } from '../../src/gateway-api/index.js';
import { buildFiles, planFiles } from '../support/build.js';
import { arbitraryObject, arbitraryOfKind } from '../support/schema-arbitrary.js';

// The seed is printed by fast-check when a case fails; WEIRGATE_SEED repeats it.
const SEED = Number(process.env.WEIRGATE_SEED ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env.WEIRGATE_RUNS ?? 300);

const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];

/** Far more than any object of these tests needs, on a busy machine as well. */
const PATIENCE_MS = 2000;

describe(`admission (seed ${SEED})`, () => {
  it.each(KINDS)('a $kind is admitted, or it is said why not', (definition) => {
    let admitted = 0;
    fc.assert(
      fc.property(arbitraryOfKind(definition), (object) => {
        const text = JSON.stringify(object);
        const begun = performance.now();
        const { resources, diagnostics } = admitText('a.yaml', text);
        expect(performance.now() - begun).toBeLessThan(PATIENCE_MS);
        expect(resources.length === 1).toBe(!hasErrors(diagnostics));
        for (const { message, hint, span, code } of diagnostics) {
          expect([message, hint, code]).not.toContain('');
          expect(span.line).toBe(1);
          expect(span.column).toBeLessThanOrEqual([...text].length);
        }
        admitted += resources.length;
      }),
      { seed: SEED, numRuns: RUNS * 4 },
    );
    // Neither does nearly everything fail, nor does everything pass.
    expect(admitted).toBeGreaterThan(0);
    expect(admitted).toBeLessThan(RUNS * 4);
  });

  it('what was admitted is admitted again and does not change: defaults are final', () => {
    fc.assert(
      fc.property(arbitraryObject, (object) => {
        const [first] = admitText('a.yaml', JSON.stringify(object)).resources;
        if (first === undefined) return;
        const { file, positions, ...stored } = first;
        // As the version that it was written in: v1alpha2 has limits of its own.
        const { apiVersion } = object as { apiVersion: string };
        const again = admitText('a.yaml', JSON.stringify({ ...stored, apiVersion }));
        expect(again.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
        const { file: _, positions: __, ...same } = again.resources[0]!;
        expect(same).toEqual(stored);
      }),
      { seed: SEED, numRuns: RUNS * 4 },
    );
  });

  it('one bad object harms no other, and nothing that was admitted stops the build', () => {
    fc.assert(
      fc.property(fc.array(arbitraryObject, { maxLength: 12 }), (objects) => {
        const texts = objects.map((object) => JSON.stringify(object));
        const together = admitText('a.yaml', texts.join('\n---\n'));
        const alone = texts.flatMap((text) => admitText('a.yaml', text).resources.map(withoutPlaces));
        expect(together.resources.map(withoutPlaces)).toEqual(alone);
        admitSnapshot([together, together]);
        buildFiles({ 'a.yaml': texts.join('\n---\n') });
        planFiles({ 'a.yaml': texts.join('\n---\n') });
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });

  it('text that somebody cut, doubled or garbled gets an answer', () => {
    const garbled = fc.tuple(
      arbitraryObject.map((object) => JSON.stringify(object, null, 1)),
      fc.array(
        fc.tuple(
          fc.nat(),
          fc.nat(40),
          fc.constantFrom('', '\n', '  ', '---\n', ': ', '- ', '{', '"', '&a ', '*a', '\t', '|'),
        ),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
    );
    fc.assert(
      fc.property(garbled, ([text, cuts]) => {
        const broken = cuts.reduce((rest, [at, length, put]) => {
          const from = at % (rest.length + 1);
          return rest.slice(0, from) + put + rest.slice(from + length);
        }, text);
        const begun = performance.now();
        admitText('a.yaml', broken);
        expect(performance.now() - begun).toBeLessThan(PATIENCE_MS);
      }),
      { seed: SEED, numRuns: RUNS * 2 },
    );
  });

  it('no text makes a format take long', () => {
    const part = fc.constantFrom(
      'a',
      'A',
      '0',
      '-',
      '.',
      '*',
      '/',
      ':',
      '=',
      '%41',
      '1h',
      '!',
      ' ',
      'a.',
      'a-',
      '_',
      'é',
      '\n',
    );
    const repeated = fc.tuple(fc.array(part, { minLength: 1, maxLength: 3 }), fc.option(part, { nil: '' }));
    fc.assert(
      fc.property(fc.constantFrom(...FORMAT_NAMES), repeated, (name, [parts, end]) => {
        // Step by step: what grows without bounds is seen before it takes for ever.
        for (const length of [16, 20, 22, 24, 26, 28, 30, 64, 256, 1024]) {
          const begun = performance.now();
          FORMATS[name].test(parts.join('').repeat(length).slice(0, length) + end);
          expect(performance.now() - begun).toBeLessThan(PATIENCE_MS / 4);
        }
      }),
      { seed: SEED, numRuns: RUNS * 4 },
    );
  });

  it('values of Secrets show nowhere', () => {
    const secret = KINDS.find(({ kind }) => kind === 'Secret')!;
    const SPY = 'c3B5IGxpdmVz';
    const spied = fc.tuple(
      arbitraryOfKind(secret),
      fc.constantFrom('data', 'stringData'),
      fc.constantFrom(SPY, `${SPY}=`, `${SPY} x`, [SPY], { [SPY]: SPY }, [{ a: SPY }]),
    );
    fc.assert(
      fc.property(spied, fc.boolean(), ([object, field, value], whole) => {
        const text = JSON.stringify({ ...object, [field]: whole ? value : { 'tls.key': value } });
        for (const { message, hint } of admitText('a.yaml', text).diagnostics) {
          expect(`${message} ${hint}`).not.toContain(SPY);
        }
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });
});

function withoutPlaces<T extends { readonly positions: unknown }>({ positions, ...resource }: T): Omit<T, 'positions'> {
  return resource;
}
