/**
 * GatewayClasses: which are ours, and with what settings. Classes of other controllers are left alone.
 */
import { CONTROLLER_NAME, type GatewayClass, type WeirgateConfig } from '../gateway-api/index.js';
import type { IrSettings } from '../ir/ir.js';
import type { Capabilities } from '../model/capabilities.js';
import type * as model from '../model/model.js';
import { CODES } from './codes.js';
import { supportedFeatures } from './features.js';
import { type Findings, isFalse, refOf } from './findings.js';
import type { Inventory } from './inventory.js';
import type { Parameters } from './parameters.js';
import { processSettings } from './settings.js';

/** A class of ours. */
export interface ClassDraft {
  readonly resource: GatewayClass;
  /** False: its Gateways wait. */
  readonly accepted: boolean;
  readonly config: WeirgateConfig | undefined;
}

/** All classes, as far as they concern us. */
export interface Classes {
  /** Ours, in order of seniority. */
  readonly ours: readonly ClassDraft[];
  readonly settings: IrSettings;
  /** Returns our class of that name, `'foreign'` for another controller's, `undefined` when there is none. */
  readonly find: (name: string) => ClassDraft | 'foreign' | undefined;
}

/** Judges the GatewayClasses. The most senior accepted class with a config sets what holds for the whole process. */
export function resolveClasses(inventory: Inventory, parameters: Parameters, findings: Findings): Classes {
  const byName = new Map<string, ClassDraft | 'foreign'>();
  for (const resource of inventory.all('GatewayClass')) {
    const ours = resource.spec.controllerName === CONTROLLER_NAME;
    byName.set(resource.metadata.name, ours ? resolveClass(resource, parameters, findings) : 'foreign');
  }
  const ours = [...byName.values()].filter((found) => found !== 'foreign');
  const leading = ours.find(({ accepted, config }) => accepted && config !== undefined);
  for (const { resource, config } of ours) {
    if (leading === undefined || config === undefined || config === leading.config) continue;
    findings.add(resource, {
      code: CODES.settingsIgnored,
      path: 'spec.parametersRef',
      message: `workers, limits, via and accessLog of this class are not used: those of the older GatewayClass ${leading.resource.metadata.name} hold for the whole process`,
      hint: 'let all classes name one WeirgateConfig, or leave these fields to the first class',
    });
  }
  return { ours, settings: processSettings(leading?.config), find: (name) => byName.get(name) };
}

/** Returns what is told about a class in its status. */
export function reportClass({ resource }: ClassDraft, capabilities: Capabilities): model.GatewayClass {
  return {
    ref: refOf(resource),
    generation: resource.metadata.generation,
    supportedFeatures: supportedFeatures(capabilities),
  };
}

function resolveClass(resource: GatewayClass, parameters: Parameters, findings: Findings): ClassDraft {
  const { parametersRef } = resource.spec;
  if (parametersRef === undefined) return { resource, accepted: true, config: undefined };
  const config = parameters.find({ ...parametersRef, namespace: parametersRef.namespace });
  if (config.ok) return { resource, accepted: true, config: config.value };
  findings.add(resource, {
    code: CODES.classParameters,
    path: 'spec.parametersRef',
    condition: isFalse('Accepted', 'InvalidParameters'),
    message: `parametersRef ${config.error}`,
  });
  return { resource, accepted: false, config: undefined };
}
