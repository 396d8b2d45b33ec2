/**
 * Parser events → trees. Resolves scalars, aliases and merge keys (`<<`); counts what aliases would expand to and refuses
 * bombs by that count, before any expansion.
 */
import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import { MAX_ALIASES, MAX_EXPANDED_NODES } from './limits.js';
import type { YamlDocument } from './yaml-document.js';
import type { YamlEntry, YamlFault, YamlMap, YamlNode, YamlScalar, YamlSequence } from './yaml-node.js';
import { plainValue, taggedValue } from './yaml-scalar.js';

interface Frame {
  readonly kind: 'map' | 'sequence';
  readonly offset: number;
  readonly anchor: string | undefined;
  readonly items: YamlNode[];
  readonly entries: YamlEntry[];
  /** Seen keys; made only for maps of more than a few entries. */
  keys: Set<string> | undefined;
  readonly merges: { readonly node: YamlNode; readonly offset: number }[];
  readonly faults: YamlFault[];
  pendingKey: PendingKey | undefined;
  size: number;
  faultCount: number;
}

interface PendingKey {
  readonly text: string;
  readonly offset: number;
  readonly merge: boolean;
}

/** Maps up to this size are searched for a duplicate key without a set. */
const FEW_KEYS = 8;

class Refusal extends Error {
  constructor(readonly fault: YamlFault) {
    super(fault.message);
  }
}

/** Returns the documents that the events of `source` describe. Offsets get `base` added. Cost: O(events). */
export function composeDocuments(source: string, base: number, events: readonly Event[]): YamlDocument[] {
  const documents: YamlDocument[] = [];
  let at = 0;
  while (at < events.length) {
    const end = endOfDocument(events, at);
    try {
      const root = new Composer(source, base).compose(events, at + 1, end - 1);
      if (root !== undefined) documents.push({ ok: true, root });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      documents.push({ ok: false, fault: error.fault });
    }
    at = end;
  }
  return documents;
}

/** Returns the index after the event that closes the document beginning at `start`. */
function endOfDocument(events: readonly Event[], start: number): number {
  let open = 0;
  for (let at = start; at < events.length; at++) {
    const type = events[at]?.type;
    if (type === EVENT_ID.POP) open--;
    else if (type !== EVENT_ID.SCALAR && type !== EVENT_ID.ALIAS) open++;
    if (open === 0) return at + 1;
  }
  return events.length;
}

class Composer {
  readonly #source: string;
  readonly #base: number;
  /** undefined as value: the anchored collection is still open, an alias to it would be a cycle. */
  readonly #anchors = new Map<string, YamlNode | undefined>();
  readonly #stack: Frame[] = [];
  #aliases = 0;
  #expanded = 0;
  #root: YamlNode | undefined;

  constructor(source: string, base: number) {
    this.#source = source;
    this.#base = base;
  }

  /** Returns the root of the document whose content is `events[from..to)`; undefined when it is empty. */
  compose(events: readonly Event[], from: number, to: number): YamlNode | undefined {
    for (let at = from; at < to; at++) {
      const event = events[at] as Event;
      switch (event.type) {
        case EVENT_ID.SCALAR:
          this.#scalar(event);
          break;
        case EVENT_ID.ALIAS:
          this.#alias(event.anchorStart, event.anchorEnd);
          break;
        case EVENT_ID.POP:
          this.#close();
          break;
        case EVENT_ID.DOCUMENT:
          break;
        default: {
          this.#checkCollectionTag(event.type === EVENT_ID.MAPPING ? '!!map' : '!!seq', event.tagStart, event.tagEnd);
          this.#open(
            event.type === EVENT_ID.MAPPING ? 'map' : 'sequence',
            this.#base + event.start,
            event.anchorStart === -1 ? undefined : this.#source.slice(event.anchorStart, event.anchorEnd),
          );
        }
      }
    }
    return this.#root?.kind === 'scalar' && this.#root.value === null ? undefined : this.#root;
  }

  #scalar(event: ScalarEvent): void {
    const text = getScalarValue(this.#source, event);
    const quoted = event.style !== SCALAR_STYLE.PLAIN;
    const inset = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED ? 1 : 0;
    const frame = this.#stack.at(-1);
    // An empty value has no place of its own: it stands where its key does.
    const offset =
      event.valueStart === -1
        ? (frame?.pendingKey?.offset ?? frame?.offset ?? this.#base)
        : this.#base + event.valueStart - inset;
    const tag = event.tagStart === -1 ? undefined : this.#source.slice(event.tagStart, event.tagEnd);
    if (frame?.kind === 'map' && frame.pendingKey === undefined) {
      this.#key(frame, { text, offset, merge: text === '<<' && !quoted });
      if (event.anchorStart !== -1) this.#anchor(event, { kind: 'scalar', value: text, text, quoted, offset });
      return;
    }
    const value = tag === undefined ? (quoted ? text : plainValue(text)) : taggedValue(tag, text);
    if (value === undefined) this.#refuseTag(tag ?? '', this.#base + event.tagStart);
    const node: YamlScalar = { kind: 'scalar', value: value as YamlScalar['value'], text, quoted, offset };
    if (event.anchorStart !== -1) this.#anchor(event, node);
    this.#add(node, 1, 0);
  }

  #anchor(event: ScalarEvent, node: YamlNode): void {
    this.#anchors.set(this.#source.slice(event.anchorStart, event.anchorEnd), node);
  }

  #key(frame: Frame, key: PendingKey): void {
    frame.pendingKey = key;
    if (key.merge || !this.#isSeen(frame, key.text)) return;
    frame.faults.push({
      code: 'WG1006',
      message: `key "${key.text}" is there twice`,
      hint: 'remove one of them, or begin a new list item with "- "',
      offset: key.offset,
    });
    frame.faultCount++;
  }

  #isSeen(frame: Frame, key: string): boolean {
    if (frame.keys === undefined && frame.entries.length < FEW_KEYS) {
      return frame.entries.some((entry) => entry.key === key);
    }
    frame.keys ??= new Set(frame.entries.map((entry) => entry.key));
    if (frame.keys.has(key)) return true;
    frame.keys.add(key);
    return false;
  }

  #alias(start: number, end: number): void {
    const name = this.#source.slice(start, end);
    const offset = this.#base + start - 1;
    this.#aliases++;
    if (this.#aliases > MAX_ALIASES) {
      throw new Refusal({
        code: 'WG1005',
        message: `too many aliases: at most ${MAX_ALIASES} in a document`,
        hint: 'write the values out',
        offset,
      });
    }
    const node = this.#anchors.get(name);
    if (node === undefined) {
      const message = this.#anchors.has(name)
        ? `alias *${name} stands inside of what it names`
        : `alias *${name} names no anchor`;
      const hint = this.#anchors.has(name) ? 'write the value out' : hintOfUnknown(name);
      throw new Refusal({ code: 'WG1005', message, hint, offset });
    }
    const frame = this.#stack.at(-1);
    if (frame?.kind === 'map' && frame.pendingKey === undefined) {
      if (node.kind !== 'scalar') this.#refuseKey(offset);
      else this.#key(frame, { text: node.text, offset, merge: false });
      return;
    }
    const size = node.kind === 'scalar' ? 1 : node.size;
    this.#expanded += size;
    if (this.#expanded > MAX_EXPANDED_NODES) {
      throw new Refusal({
        code: 'WG1005',
        message: `aliases expand to more than ${MAX_EXPANDED_NODES.toLocaleString('en')} values`,
        hint: 'aliases of aliases multiply; write the values out',
        offset,
      });
    }
    this.#add(node, size, node.kind === 'scalar' ? 0 : node.faultCount);
  }

  #open(kind: Frame['kind'], offset: number, anchor: string | undefined): void {
    const parent = this.#stack.at(-1);
    if (parent?.kind === 'map' && parent.pendingKey === undefined) this.#refuseKey(offset);
    if (anchor !== undefined) this.#anchors.set(anchor, undefined);
    this.#stack.push({
      kind,
      offset,
      anchor,
      items: [],
      entries: [],
      keys: undefined,
      merges: [],
      faults: [],
      pendingKey: undefined,
      size: 1,
      faultCount: 0,
    });
  }

  #close(): void {
    const frame = this.#stack.pop();
    if (frame === undefined) return;
    const { offset, faultCount, size } = frame;
    const node: YamlMap | YamlSequence =
      frame.kind === 'sequence'
        ? { kind: 'sequence', items: frame.items, offset, faultCount, size }
        : { kind: 'map', entries: mergedEntries(frame), faults: frame.faults, offset, faultCount, size };
    if (frame.anchor !== undefined) this.#anchors.set(frame.anchor, node);
    this.#add(node, size, faultCount);
  }

  #add(node: YamlNode, size: number, faultCount: number): void {
    const frame = this.#stack.at(-1);
    if (frame === undefined) {
      this.#root = node;
      return;
    }
    frame.size += size;
    frame.faultCount += faultCount;
    const key = frame.pendingKey;
    if (key === undefined) {
      frame.items.push(node);
      return;
    }
    frame.pendingKey = undefined;
    if (key.merge) this.#merge(frame, node, key.offset);
    else frame.entries.push({ key: key.text, keyOffset: key.offset, value: node });
  }

  #merge(frame: Frame, node: YamlNode, offset: number): void {
    const sources = node.kind === 'sequence' ? node.items : [node];
    if (sources.every((source) => source.kind === 'map')) {
      frame.merges.push(...sources.map((source) => ({ node: source, offset })));
      return;
    }
    frame.faults.push({ code: 'WG1007', message: 'only maps can be merged with <<', hint: 'name a map', offset });
    frame.faultCount++;
  }

  #refuseKey(offset: number): never {
    const template = this.#source.startsWith('{{', offset - this.#base - 1);
    throw new Refusal({
      code: 'WG1007',
      message: 'a map or list cannot be a key',
      hint: template ? 'this looks like a template: render it first' : 'quote text that begins with { or [',
      offset,
    });
  }

  #refuseTag(tag: string, offset: number): never {
    throw new Refusal({ code: 'WG1007', message: `tag ${tag} does not fit here`, hint: 'leave the tag out', offset });
  }

  #checkCollectionTag(wanted: string, start: number, end: number): void {
    if (start === -1) return;
    const tag = this.#source.slice(start, end);
    if (tag !== wanted && tag !== '!') this.#refuseTag(tag, this.#base + start);
  }
}

/** Keys written in the map itself win over merged ones, earlier merged maps over later ones (YAML merge key type). */
function mergedEntries(frame: Frame): readonly YamlEntry[] {
  if (frame.merges.length === 0) return frame.entries;
  const entries = [...frame.entries];
  const seen = new Set(entries.map((entry) => entry.key));
  for (const { node } of frame.merges) {
    if (node.kind !== 'map') continue;
    for (const entry of node.entries) {
      if (seen.has(entry.key)) continue;
      seen.add(entry.key);
      entries.push(entry);
    }
  }
  return entries;
}

/** An alias with a dot is a wildcard without quotes, nearly always: `- *.example.com`. */
function hintOfUnknown(alias: string): string {
  return alias.includes('.') ? `put the text into quotes: "*${alias}"` : `mark the value that is meant with &${alias}`;
}
