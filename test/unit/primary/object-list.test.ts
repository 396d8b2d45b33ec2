/** Objects as they are listed: pages that lose nothing, statuses of others, and no content of Secrets. */
import { describe, expect, it } from 'vitest';
import { admitSnapshot, admitText } from '../../../src/admit/index.js';
import { CONTROLLER_NAME, type Resource } from '../../../src/gateway-api/index.js';
import type { ListedObject } from '../../../src/ipc/admin-protocol.js';
import { countGenerations, EMPTY_ROSTER, type Row } from '../../../src/primary/ledger.js';
import { isSameObject, listObject, listPage, type PageRequest } from '../../../src/primary/object-list.js';

const backend = (namespace: string, name: string): string => `apiVersion: weirgate.dev/v1alpha1
kind: Backend
metadata: { name: ${name}, namespace: ${namespace} }
spec: { endpoints: [{ address: 127.0.0.1, port: 1 }] }
`;

function resourcesOf(...texts: readonly string[]): readonly Resource[] {
  const { resources, diagnostics } = admitSnapshot([admitText('a.yaml', texts.join('---\n'))]);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return resources;
}

function listable(resources: readonly Resource[]): readonly Row[] {
  return countGenerations(resources, new Set(), EMPTY_ROSTER).rows;
}

/** Names on each page, until there is no next one. */
function pages(from: readonly Row[], request: PageRequest): string[][] {
  const found: string[][] = [];
  let after: string | undefined;
  do {
    const page = listPage(from, { ...request, ...(after !== undefined && { after }) });
    const items = JSON.parse(`[${page.items}]`) as ListedObject[];
    expect(items).toHaveLength(page.count);
    found.push(items.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`));
    after = page.next;
  } while (after !== undefined);
  return found;
}

const only = (text: string): Resource => resourcesOf(text)[0] as Resource;

describe('pages', () => {
  const some = listable(
    resourcesOf(
      ...['a', 'b', 'c'].flatMap((name) => [backend('one', name), backend('two', name)]),
      'apiVersion: v1\nkind: Namespace\nmetadata: { name: one }\n',
    ),
  );

  it.each([1, 2, 3, 6, 7, 100])('of at most %i have every object once, in order', (limit) => {
    const found = pages(some, { limit });
    expect(found.flat()).toEqual([
      ...['one/a', 'one/b', 'one/c', 'two/a', 'two/b', 'two/c'].map((name) => `Backend ${name}`),
      'Namespace /one',
    ]);
    expect(found).toHaveLength(Math.ceil(7 / limit));
  });

  it('have what the filter says, and a next one only if there is something on it', () => {
    expect(pages(some, { kind: 'Backend', namespace: 'two', limit: 2 })).toEqual([
      ['Backend two/a', 'Backend two/b'],
      ['Backend two/c'],
    ]);
    expect(pages(some, { kind: 'Backend', name: 'b', limit: 2 })).toEqual([['Backend one/b', 'Backend two/b']]);
    expect(pages(some, { kind: 'Gateway' })).toEqual([[]]);
    expect(pages(some, { namespace: 'one' }).flat(), 'what has no namespace belongs to all').toContain(
      'Namespace /one',
    );
  });

  it('go on behind an object that is gone', () => {
    const fewer = some.filter(({ resource }) => resource.metadata.name !== 'b');
    const { next } = listPage(some, { limit: 2 });
    expect(pages(fewer, { limit: 2, ...(next !== undefined && { after: next }) })[0]).toEqual([
      'Backend one/c',
      'Backend two/a',
    ]);
    expect(pages(some, { after: 'no place' })[0]).toEqual(expect.any(Array));
  });

  it('end by size as well: 100,000 objects never stand in memory at once', () => {
    const large = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: NAME }\ndata: { a: "${'x'.repeat(900_000)}" }\n`;
    const found = pages(
      listable(resourcesOf(...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => large.replace('NAME', name)))),
      {},
    );
    expect(found.map((page) => page.length)).toEqual([5, 2]);
    const many = listable(
      Array.from({ length: 1201 }, (_, index) => {
        const resource = only(backend('one', 'a'));
        return {
          ...resource,
          metadata: { ...resource.metadata, name: `b-${String(index).padStart(5, '0')}` },
        } as Resource;
      }),
    );
    expect(pages(many, {}).map((page) => page.length)).toEqual([500, 500, 201]);
  });
});

describe('a Secret', () => {
  const text = `apiVersion: v1
kind: Secret
metadata:
  name: key
  annotations: { kubectl.kubernetes.io/last-applied-configuration: '{"data":{"pw":"c2VjcmV0"}}', team: edge }
data: { pw: c2VjcmV0, tls.key: c2VjcmV0 }
stringData: { plain: hunter2 }
`;

  it('shows the names of its keys and a mark that no API server takes for a value', () => {
    const listed = listObject(only(text), undefined);
    expect(JSON.stringify(listed)).not.toMatch(/c2VjcmV0|hunter2|secret"/);
    expect(listed).toMatchObject({
      metadata: { annotations: { team: 'edge', 'kubectl.kubernetes.io/last-applied-configuration': '<hidden>' } },
      data: { pw: '<hidden>', 'tls.key': '<hidden>' },
      type: 'Opaque',
    });
    expect(() => atob('<hidden>')).toThrow();
  });

  it('is another object when a value differs, though it looks alike', () => {
    const other = only(text.replace('tls.key: c2VjcmV0', 'tls.key: c2VjcmV1'));
    expect(isSameObject(only(text), other)).toBe(false);
    expect(isSameObject(only(text), only(`# moved\n${text}`))).toBe(true);
  });
});

describe('a status in a file', () => {
  const gateway = (status: string): Resource =>
    only(`apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: web, labels: {} }
spec: { parentRefs: [{ name: edge }] }
status: ${status}
`);
  const theirs = `{ parentRef: { name: theirs }, controllerName: example.com/other, conditions: [{ type: Accepted, status: "False", at: 1.50 }] }`;
  const stale = `{ parentRef: { name: gone }, controllerName: ${CONTROLLER_NAME}, conditions: [{ type: Accepted, status: "True" }] }`;
  const parsed = {
    parentRef: { name: 'theirs' },
    controllerName: 'example.com/other',
    conditions: [{ type: 'Accepted', status: 'False', at: 1.5 }],
  };
  const own = { parentRef: { name: 'edge' }, controllerName: CONTROLLER_NAME, conditions: [] };

  it('keeps what others wrote, in front of ours; what it says in our name is stale', () => {
    const listed = listObject(gateway(`{ parents: [${stale}, ${theirs}], later: { a: 1 } }`), { parents: [own] });
    expect(listed.status).toEqual({ parents: [parsed, own], later: { a: 1 } });
  });

  it('of an object that is not ours is all there is', () => {
    expect(listObject(gateway(`{ parents: [${stale}, ${theirs}] }`), undefined).status).toEqual({ parents: [parsed] });
  });

  it.each(['5', 'null', '[]', '{ parents: 5 }', '"x"'])('that is %s does not matter', (status) => {
    expect(listObject(gateway(status), { parents: [own] }).status).toMatchObject({ parents: [own] });
    expect(listObject(gateway(status), undefined).status).toBeDefined();
  });
});
