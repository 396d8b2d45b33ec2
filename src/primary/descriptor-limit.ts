/**
 * The limit of open files, and the warning when it is low. Workers stop accepting before they reach it, so a low one
 * shows as clients that wait for no visible reason. Serves `primary.ts`.
 */
import { readFileSync } from 'node:fs';

/** Below this a worker holds fewer than 1,500 connections: a limit that somebody forgot, not one that somebody chose. */
const LOW_LIMIT = 4_096;
/** What a worker keeps for other things, the share of its pipes, and what it counts for a connection (`accept.rs`). */
const RESERVED = 64;
const PIPE_SHARE = 1 / 4;
const PER_CONNECTION = 2;

/** Returns how many files this process and its workers may open; undefined where /proc does not tell. */
export function readDescriptorLimit(): number | undefined {
  try {
    // Node raises the soft limit to the hard one when it starts; workers inherit both.
    const soft = readFileSync('/proc/self/limits', 'utf8').match(/^Max open files\s+(\d+)/m)?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** Returns what to warn about a limit, with the remedy; undefined when it is high enough. */
export function describeLowLimit(limit: number): string | undefined {
  if (limit >= LOW_LIMIT) return undefined;
  const connections = Math.max(0, Math.floor((limit * (1 - PIPE_SHARE) - RESERVED) / PER_CONNECTION));
  return (
    `the limit of ${limit} open files is low: each worker stops accepting at about ${connections} connections; ` +
    'raise LimitNOFILE= in the unit (ulimit -Hn in a shell)'
  );
}
