/**
 * parametersRef of a GatewayClass or a Gateway: the `WeirgateConfig` that it names.
 */
import { err, ok, type Result } from '../base/index.js';
import { objectLabel, WEIRGATE_GROUP, type WeirgateConfig } from '../gateway-api/index.js';
import type { Inventory } from './inventory.js';

interface ConfigReference {
  readonly group: string;
  readonly kind: string;
  /** `undefined`: the reference gives none, and its owner has none. */
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Counts which configs somebody uses, and finds them. */
export class Parameters {
  readonly #inventory: Inventory;
  readonly #used = new Set<WeirgateConfig>();

  constructor(inventory: Inventory) {
    this.#inventory = inventory;
  }

  /** Returns the config that is named; the error is a sentence without its subject ("names …"). */
  find({ group, kind, namespace, name }: ConfigReference): Result<WeirgateConfig, string> {
    if (group !== WEIRGATE_GROUP || kind !== 'WeirgateConfig') {
      return err(
        `names the kind ${kind} of group "${group}"; only WeirgateConfig of group "${WEIRGATE_GROUP}" is known`,
      );
    }
    if (namespace === undefined) return err(`has no namespace, which ${kind} needs`);
    const config = this.#inventory.find('WeirgateConfig', namespace, name);
    if (config === undefined) {
      const absence = this.#inventory.absence('WeirgateConfig', namespace, name);
      return err(`names ${objectLabel(kind, namespace, name)}, ${absence}`);
    }
    this.#used.add(config);
    return ok(config);
  }

  /** Returns the configs that nobody has asked for, in order of seniority. */
  unused(): WeirgateConfig[] {
    return [...this.#inventory.all('WeirgateConfig')].filter((config) => !this.#used.has(config));
  }
}
