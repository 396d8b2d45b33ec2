/**
 * Tries of reversed host labels: one for the listeners of each HTTP socket, one for the virtual hosts of each HTTP listener.
 * All nodes share one section, parents before children; the edges are one open-addressed index over (parent, label).
 */
import { HOST_EDGE, HOST_NODE, NONE } from '../native/layout.gen.js';
import { hashKey } from './hash.js';
import { buildIndex, type HashIndex } from './hash-index.js';
import type { Sections } from './sections.js';

/**
 * Encodes one trie and returns its root node.
 *
 * `values` by hostname: `''` any name, `*.example.com` one or more labels below, else exact; lower case.
 * Cost: O(labels) map operations a name.
 */
export function encodeHostTrie(sections: Sections, values: ReadonlyMap<string, number>): number {
  const nodes = sections.hostNodes;
  const root = addNode(sections, NONE, '');
  // A node is known by the name it stands for, so that no map per node is needed.
  const nodeByName = new Map<string, number>([['', root]]);
  const nodeOf = (name: string): number => {
    const known = nodeByName.get(name);
    if (known !== undefined) return known;
    const dot = name.indexOf('.');
    const label = dot === -1 ? name : name.slice(0, dot);
    const node = addNode(sections, nodeOf(dot === -1 ? '' : name.slice(dot + 1)), label);
    nodeByName.set(name, node);
    return node;
  };
  for (const [hostname, value] of values) {
    const isWildcard = hostname === '' || hostname.startsWith('*.');
    const node = nodeOf(isWildcard ? hostname.slice(2) : hostname);
    nodes.u32(nodes.at(node) + (isWildcard ? HOST_NODE.wildcard : HOST_NODE.exact), value);
  }
  return root;
}

/** Returns the index of all nodes under (parent, label) for a hash seed. */
export function indexHostNodes(sections: Sections, seed: number): HashIndex {
  const nodes = sections.hostNodes;
  const text = sections.strings.bytes;
  const hashes = new Uint32Array(nodes.count);
  const isRoot = new Uint8Array(nodes.count);
  for (let node = 0; node < hashes.length; node++) {
    const at = nodes.at(node);
    const parent = nodes.readU32(at + HOST_NODE.parent);
    if (parent === NONE) isRoot[node] = 1;
    const offset = nodes.readU32(at + HOST_NODE.labelOffset);
    hashes[node] = hashKey(seed, parent, 0, text, offset, nodes.readU32(at + HOST_NODE.labelLength));
  }
  return buildIndex(hashes, isRoot);
}

/** Writes the index into its section. */
export function encodeHostEdges(sections: Sections, index: HashIndex): void {
  for (let slot = 0; slot < index.values.length; slot++) {
    const at = sections.hostEdges.record();
    sections.hostEdges.u32(at + HOST_EDGE.hash, index.hashes[slot]!);
    sections.hostEdges.u32(at + HOST_EDGE.child, index.values[slot]!);
  }
}

function addNode(sections: Sections, parent: number, label: string): number {
  const nodes = sections.hostNodes;
  const node = nodes.count;
  const at = nodes.record();
  nodes.u32(at + HOST_NODE.parent, parent);
  nodes.text(at + HOST_NODE.labelOffset, sections.strings, label);
  nodes.u32(at + HOST_NODE.exact, NONE);
  nodes.u32(at + HOST_NODE.wildcard, NONE);
  return node;
}
