/** A YAML tree as the plain value that it stands for, for the parts of an object that nobody judges. Serves `admit-text.ts`. */
import type { YamlNode } from './yaml-node.js';

/** Returns what `JSON.parse` would return for the same content. Of equal keys the last one counts. Cost: O(size of the tree). */
export function plainValue(node: YamlNode): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'sequence':
      return node.items.map(plainValue);
    case 'map':
      // Not by assignment: a key may be "__proto__".
      return Object.fromEntries(node.entries.map(({ key, value }) => [key, plainValue(value)]));
  }
}
