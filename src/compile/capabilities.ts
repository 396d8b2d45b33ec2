/**
 * What the table can say and the engine carries out. Resolution lets nothing else through, so `compile` never sees it.
 */
import type { Capabilities } from '../model/capabilities.js';

/** The capabilities of this version's data plane. */
export const CAPABILITIES: Capabilities = new Set(['protocol/HTTP', 'protocol/TCP']);
