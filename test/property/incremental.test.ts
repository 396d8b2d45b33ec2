/**
 * A build that takes over what it can from the one before gives what a build from nothing gives: after any change.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AdmittedFile, admitSnapshot, admitText, SnapshotMemo } from '../../src/admit/index.js';
import { SlotBook } from '../../src/compile/compile.js';
import { ALL_CAPABILITIES } from '../../src/model/capabilities.js';
import { BuildMemo, build, plan } from '../../src/pipeline.js';
import { FACTS } from '../support/build.js';
import { arbitraryObjects, servedMatch, textOf, type WrittenObject } from '../support/snapshot-arbitrary.js';

// The seed is printed by fast-check when a case fails; WEIRGATE_SEED repeats it.
const SEED = Number(process.env.WEIRGATE_SEED ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env.WEIRGATE_RUNS ?? 200);

const EVERYTHING = new Set(ALL_CAPABILITIES);

/** One edit: objects that come or change, and which of the present ones stay. */
interface Edit {
  readonly objects: readonly WrittenObject[];
  /** Of every ten, in order: whether a present object stays, and whether one of `objects` does not come. */
  readonly stays: readonly boolean[];
}

const GATEWAY_API = 'gateway.networking.k8s.io/v1';

/** Routes about which there is nothing to say, as most are, and what such routes depend on. */
const plain: fc.Arbitrary<readonly WrittenObject[]> = fc
  .record({
    env: fc.constantFrom('prod', 'dev'),
    backends: fc.subarray(['a', 'b', 'c', 'd']),
    routes: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom('p1', 'p2', 'p3', 'p4', 'p5', 'p6'),
        parents: fc.subarray(['edge', 'picky'], { minLength: 1 }),
        hostnames: fc.subarray(['a.test', '*.a.test', 'c.test'], { minLength: 1 }),
        backends: fc.subarray(['a', 'b', 'c', 'd'], { minLength: 1 }),
        matches: fc.array(servedMatch, { minLength: 1, maxLength: 2 }),
      }),
      { maxLength: 6, selector: ({ name }) => name },
    ),
  })
  .map(({ env, backends, routes }) => [
    // The two kinds of surroundings that a route does not name: labels of its namespace, and who may come at all.
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', labels: { env } }, spec: {} },
    picky,
    ...backends.map((name) => ({ apiVersion: 'weirgate.dev/v1alpha1', kind: 'Backend', metadata: { name }, spec: {} })),
    ...routes.map(({ name, parents, hostnames, backends: named, matches }) => ({
      apiVersion: GATEWAY_API,
      kind: 'HTTPRoute',
      metadata: { name },
      spec: {
        parentRefs: parents.map((parent) => ({ name: parent })),
        hostnames,
        rules: [
          { matches, backendRefs: named.map((backend) => ({ group: 'weirgate.dev', kind: 'Backend', name: backend })) },
        ],
      },
    })),
  ]);

const picky: WrittenObject = {
  apiVersion: GATEWAY_API,
  kind: 'Gateway',
  metadata: { name: 'picky' },
  spec: {
    gatewayClassName: 'weirgate',
    listeners: [
      {
        name: 'http',
        protocol: 'HTTP',
        port: 8088,
        allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: { env: 'prod' } } } },
      },
    ],
  },
};

const moved = fc
  .record({ objects: arbitraryObjects, plain, port: fc.constantFrom(80, 8080) })
  .map(({ objects, plain: more, port }) => [...objects, ...more].map((object) => withPort(object, port)));

const edit: fc.Arbitrary<Edit> = fc.record({
  objects: moved,
  // Most objects stay as they are, as in real life: only then is there something to take over.
  stays: fc.array(fc.constantFrom(true, true, true, true, false), { minLength: 10, maxLength: 10 }),
});

describe(`a build after others (seed ${SEED})`, () => {
  it('is the build from nothing, over any sequence of edits', () => {
    let kept = 0;
    fc.assert(
      fc.property(moved, fc.array(edit, { minLength: 1, maxLength: 6 }), (objects, edits) => {
        const known = new SnapshotMemo();
        const memo = new BuildMemo();
        const unlimited = new BuildMemo();
        let book = new SlotBook();
        let files = filesOf(objects);
        for (const [index, step] of [{ objects: [], stays: ALL }, ...edits].entries()) {
          files = apply(files, step);
          kept += files.size;
          const snapshot = admitSnapshot([...files.values()]);
          expect(admitSnapshot([...files.values()], known)).toEqual(snapshot);
          const own = SlotBook.from(book.toJSON());
          const expected = build(snapshot, FACTS, own, index + 1);
          expect(build(snapshot, FACTS, book, index + 1, memo)).toEqual(expected);
          expect(book.toJSON()).toEqual(own.toJSON());
          book = own;
          expect(plan(snapshot, FACTS, EVERYTHING, unlimited)).toEqual(plan(snapshot, FACTS, EVERYTHING));
        }
      }),
      { seed: SEED, numRuns: RUNS },
    );
    expect(kept).toBeGreaterThan(RUNS);
  });
});

/** Backends are told apart by what they hold as well, so that a route may stay while what it leads to changes. */
function withPort(object: WrittenObject, port: number): WrittenObject {
  if (object.kind !== 'Backend') return object;
  return { ...object, spec: { endpoints: [{ address: '10.0.0.9', port }] } };
}

const ALL: readonly boolean[] = [true];

/** A file an object, so that an object that stays is the very same. */
function filesOf(objects: readonly WrittenObject[]): Map<string, AdmittedFile> {
  return new Map(
    objects.map((object) => {
      const { kind, metadata } = object;
      const file = `${kind}-${metadata.namespace ?? 'default'}-${metadata.name}.yaml`;
      return [file, admitText(file, textOf([object]))];
    }),
  );
}

function apply(files: ReadonlyMap<string, AdmittedFile>, { objects, stays }: Edit): Map<string, AdmittedFile> {
  const isChosen = (index: number): boolean => stays[index % stays.length] === true;
  const staying = [...files].filter(([file], index) => isChosen(index) || file.startsWith('GatewayClass'));
  const coming = [...filesOf(objects)].filter((_, index) => !isChosen(index));
  return new Map([...staying, ...coming]);
}
