/**
 * Virtual hosts and their paths: an entry for each distinct path with its run of matches, and one index over all entries.
 * Exact paths come before prefixes and long prefixes before short ones by the way the index is asked; within one path the
 * order of the IR stands.
 */
import type { IrMatch, IrVirtualHost } from '../ir/ir.js';
import {
  NONE,
  PATH_ENTRY,
  PATH_EXACT,
  PATH_PREFIX,
  PATH_SLOT,
  PREFIX_LEVELS_NONE,
  VIRTUAL_HOST_RECORD,
} from '../native/layout.gen.js';
import { hashKey } from './hash.js';
import { buildIndex, type HashIndex } from './hash-index.js';
import { encodeMatch } from './matchers.js';
import type { Sections } from './sections.js';

/**
 * Encodes the virtual hosts of a listener and returns the first one of each hostname; those of equal hostname are chained
 * in their order. Cost: O(matches).
 */
export function encodeVirtualHosts(sections: Sections, hosts: readonly IrVirtualHost[]): Map<string, number> {
  const first = new Map<string, number>();
  const last = new Map<string, number>();
  for (const host of hosts) {
    const index = encodeVirtualHost(sections, host);
    const before = last.get(host.hostname);
    if (before === undefined) first.set(host.hostname, index);
    else sections.virtualHosts.u32(sections.virtualHosts.at(before) + VIRTUAL_HOST_RECORD.next, index);
    last.set(host.hostname, index);
  }
  return first;
}

/** Returns the index of all entries under (virtual host, kind, path) for a hash seed. */
export function indexPaths(sections: Sections, seed: number): HashIndex {
  const entries = sections.pathEntries;
  const text = sections.strings.bytes;
  const hashes = new Uint32Array(entries.count);
  for (let entry = 0; entry < hashes.length; entry++) {
    const at = entries.at(entry);
    const host = entries.readU32(at + PATH_ENTRY.virtualHost);
    const kind = entries.readU32(at + PATH_ENTRY.kind);
    const offset = entries.readU32(at + PATH_ENTRY.pathOffset);
    hashes[entry] = hashKey(seed, host, kind, text, offset, entries.readU32(at + PATH_ENTRY.pathLength));
  }
  return buildIndex(hashes);
}

/** Writes the index into its section. */
export function encodePathSlots(sections: Sections, index: HashIndex): void {
  for (let slot = 0; slot < index.values.length; slot++) {
    const at = sections.pathSlots.record();
    sections.pathSlots.u32(at + PATH_SLOT.hash, index.hashes[slot]!);
    sections.pathSlots.u32(at + PATH_SLOT.entry, index.values[slot]!);
  }
}

function encodeVirtualHost(sections: Sections, host: IrVirtualHost): number {
  const { virtualHosts, pathEntries } = sections;
  const index = virtualHosts.count;
  const at = virtualHosts.record();
  const groups = groupByPath(host.matches);
  virtualHosts.text(at + VIRTUAL_HOST_RECORD.hostnameOffset, sections.strings, host.hostname);
  virtualHosts.u32(at + VIRTUAL_HOST_RECORD.entryFirst, pathEntries.count);
  virtualHosts.u32(at + VIRTUAL_HOST_RECORD.entryCount, groups.size);
  virtualHosts.u32(at + VIRTUAL_HOST_RECORD.next, NONE);
  let levels = PREFIX_LEVELS_NONE;
  let hasExact = 0;
  for (const [key, matches] of groups) {
    const isExact = key.startsWith('=');
    const path = key.slice(1);
    if (isExact) hasExact = 1;
    else levels = levels === PREFIX_LEVELS_NONE ? elements(path) : Math.max(levels, elements(path));
    const entry = pathEntries.record();
    pathEntries.u32(entry + PATH_ENTRY.virtualHost, index);
    pathEntries.u32(entry + PATH_ENTRY.kind, isExact ? PATH_EXACT : PATH_PREFIX);
    pathEntries.text(entry + PATH_ENTRY.pathOffset, sections.strings, path);
    pathEntries.u32(entry + PATH_ENTRY.matchFirst, sections.matches.count);
    pathEntries.u32(entry + PATH_ENTRY.matchCount, matches.length);
    for (const match of matches) encodeMatch(sections, match);
  }
  virtualHosts.u32(at + VIRTUAL_HOST_RECORD.prefixLevels, levels);
  virtualHosts.u32(at + VIRTUAL_HOST_RECORD.hasExact, hasExact);
  return index;
}

/** Matches by `=path` or `^prefix`, in order of first appearance. A prefix loses its trailing slashes, so `/` is empty. */
function groupByPath(matches: readonly IrMatch[]): Map<string, IrMatch[]> {
  const groups = new Map<string, IrMatch[]>();
  for (const match of matches) {
    const { type, value } = match.path;
    const key = type === 'exact' ? `=${value}` : `^${value.replace(/\/+$/, '')}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [match]);
    else group.push(match);
  }
  return groups;
}

/** Path elements of a prefix without trailing slash: its slashes. */
function elements(prefix: string): number {
  let count = 0;
  for (let at = prefix.indexOf('/'); at !== -1; at = prefix.indexOf('/', at + 1)) count += 1;
  return count;
}
