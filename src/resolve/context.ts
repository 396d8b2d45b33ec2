/**
 * What all parts of resolution share: the resources, what is known about host and data plane, and where findings go.
 */
import type { Capabilities } from '../model/capabilities.js';
import type { Certificates } from './certificates.js';
import type { Facts } from './facts.js';
import type { Findings } from './findings.js';
import type { Inventory } from './inventory.js';
import type { Parameters } from './parameters.js';
import type { ReferenceGrants } from './reference-grants.js';

export interface Context {
  readonly inventory: Inventory;
  readonly facts: Facts;
  /** Of the data plane; what is missing is answered with the condition that the specification has for it. */
  readonly capabilities: Capabilities;
  readonly parameters: Parameters;
  readonly grants: ReferenceGrants;
  readonly certificates: Certificates;
  readonly findings: Findings;
}
