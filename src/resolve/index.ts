/**
 * The one door of `resolve/`: resources → model and findings.
 */
export { judgeLifetimes } from './certificate-lifetimes.js';
export type { BindFailure, Facts } from './facts.js';
export { ResolveMemo } from './memo.js';
export { type Resolution, resolve } from './resolve.js';
