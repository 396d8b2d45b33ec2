/**
 * The one door of `lower/`: model → IR.
 */
export { lower } from './lower.js';
export { LowerMemo } from './memo.js';
