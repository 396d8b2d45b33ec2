/**
 * The one door of `admit/`: text → resources and diagnostics.
 */
export { admitSnapshot, SnapshotMemo } from './admit-snapshot.js';
export { admitText } from './admit-text.js';
export { MAX_ALIASES, MAX_BYTES, MAX_DEPTH } from './limits.js';
export { refuseChanges } from './refuse-changes.js';
export type { AdmittedFile, RefusedObject, Snapshot } from './snapshot.js';
export { nearestWord } from './suggest.js';
