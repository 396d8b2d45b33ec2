/**
 * The one door of `status/`: model and findings → conditions.
 */
export type { Condition } from './conditions.js';
export { type MergedStatus, mergeStatus, type TimedCondition } from './merge-status.js';
export {
  type AncestorStatus,
  buildStatus,
  type ListenerStatus,
  type ObjectStatus,
  type ParentStatus,
  type StatusBody,
  type StatusMemo,
} from './status.js';
