/**
 * The canonical text of a table: one line a record, texts resolved, nothing of offsets and hashes.
 * `native/crates/table/src/dump.rs` prints the same; a difference is a bug in one of the two writers or readers.
 */
import {
  ACTION_RECORD,
  BACKEND_CLUSTER,
  BACKEND_RECORD,
  FLAG_ACCESS_LOG,
  FLAG_VIA,
  HEADER,
  HEADER_RECORD,
  HOST_NODE,
  LISTENER_RECORD,
  MATCH_RECORD,
  NETWORK_RECORD,
  NONE,
  PATH_ENTRY,
  PATH_EXACT,
  PROTOCOL_HTTP,
  PROTOCOL_NONE,
  SECTION_ENTRY,
  SECTIONS,
  SEQUENCE_ENTRY,
  SETTINGS_RECORD,
  type SectionName,
  SOCKET_RECORD,
  VIRTUAL_HOST_RECORD,
} from '../native/layout.gen.js';

/** Returns the canonical text of a valid table (see `Table::parse` for the check). Cost: linear. */
export function dumpTable(table: Uint8Array): string {
  const reader = new TableReader(table);
  const lines = [
    `table generation=${reader.generation}`,
    dumpSettings(reader),
    ...reader.each('sockets', dumpSocket),
    ...reader.each('listeners', dumpListener),
    ...reader.each('hostNodes', dumpNode),
    ...reader.each('virtualHosts', dumpVirtualHost),
    ...reader.each('actions', dumpAction),
  ];
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

type Dump = (reader: TableReader, at: number, index: number) => string;

class TableReader {
  readonly #view: DataView;
  readonly #sections = new Map<SectionName, { offset: number; count: number; size: number }>();

  constructor(table: Uint8Array) {
    this.#view = new DataView(table.buffer, table.byteOffset, table.byteLength);
    SECTIONS.forEach(({ name, size }, i) => {
      const at = HEADER.size + i * SECTION_ENTRY.size;
      const offset = this.u32(at + SECTION_ENTRY.offset);
      this.#sections.set(name, { offset, count: this.u32(at + SECTION_ENTRY.count), size });
    });
  }

  get generation(): bigint {
    return this.#view.getBigUint64(HEADER.generation, true);
  }

  u16(at: number): number {
    return this.#view.getUint16(at, true);
  }

  u32(at: number): number {
    return this.#view.getUint32(at, true);
  }

  hex(at: number, length: number): string {
    return Buffer.from(this.#view.buffer, this.#view.byteOffset + at, length).toString('hex');
  }

  /** Byte offset of a record. */
  at(section: SectionName, index: number): number {
    const { offset, size } = this.#section(section);
    return offset + index * size;
  }

  /** The text whose offset field is at `at`, quoted. */
  text(at: number): string {
    const start = this.#section('strings').offset + this.u32(at);
    let text = '';
    for (let i = start; i < start + this.u32(at + 4); i++) text += quoteByte(this.#view.getUint8(i));
    return `"${text}"`;
  }

  each(section: SectionName, dump: Dump): string[] {
    return this.run(section, 0, this.#section(section).count, dump);
  }

  run(section: SectionName, first: number, count: number, dump: Dump): string[] {
    return Array.from({ length: count }, (_, i) => dump(this, this.at(section, first + i), first + i));
  }

  #section(name: SectionName): { offset: number; count: number; size: number } {
    return this.#sections.get(name)!;
  }
}

function dumpSettings(reader: TableReader): string {
  const at = reader.at('settings', 0);
  const flags = reader.u32(at + SETTINGS_RECORD.flags);
  return [
    `settings workers=${reader.u32(at + SETTINGS_RECORD.workers)}`,
    `max-head-bytes=${reader.u32(at + SETTINGS_RECORD.maxHeadBytes)}`,
    `max-headers=${reader.u32(at + SETTINGS_RECORD.maxHeaders)}`,
    `max-idle-per-endpoint=${reader.u32(at + SETTINGS_RECORD.maxIdlePerEndpoint)}`,
    `via=${(flags & FLAG_VIA) !== 0}`,
    `access-log=${(flags & FLAG_ACCESS_LOG) === 0 ? '-' : reader.text(at + SETTINGS_RECORD.logTargetOffset)}`,
  ].join(' ');
}

function dumpSocket(reader: TableReader, at: number, id: number): string {
  const protocol = reader.u32(at + SOCKET_RECORD.protocol);
  if (protocol === PROTOCOL_NONE) return '';
  const key = reader.text(at + SOCKET_RECORD.keyOffset);
  return protocol === PROTOCOL_HTTP
    ? `socket ${id} ${key} http root=${reader.u32(at + SOCKET_RECORD.listenerRoot)}`
    : `socket ${id} ${key} tcp listener=${reader.u32(at + SOCKET_RECORD.tcpListener)}`;
}

function dumpListener(reader: TableReader, at: number, index: number): string {
  const line = [
    `listener ${index} ${reader.text(at + LISTENER_RECORD.nameOffset)}`,
    `hostname=${reader.text(at + LISTENER_RECORD.hostnameOffset)}`,
    `slot=${reader.u32(at + LISTENER_RECORD.slot)}`,
    `root=${maybe(reader.u32(at + LISTENER_RECORD.routeRoot))}`,
    `tcp-action=${maybe(reader.u32(at + LISTENER_RECORD.tcpAction))}`,
    `idle=${reader.u32(at + LISTENER_RECORD.idleMs)}`,
    `header=${reader.u32(at + LISTENER_RECORD.headerMs)}`,
    `connect=${reader.u32(at + LISTENER_RECORD.connectMs)}`,
    `stream-idle=${reader.u32(at + LISTENER_RECORD.streamIdleMs)}`,
    `tunnel-idle=${reader.u32(at + LISTENER_RECORD.tunnelIdleMs)}`,
    `half-closed=${reader.u32(at + LISTENER_RECORD.halfClosedMs)}`,
  ].join(' ');
  const first = reader.u32(at + LISTENER_RECORD.trustedFirst);
  const networks = reader.run('networks', first, reader.u32(at + LISTENER_RECORD.trustedCount), dumpNetwork);
  return [line, ...networks].join('\n');
}

function dumpNetwork(reader: TableReader, at: number): string {
  const range = `${reader.hex(at + NETWORK_RECORD.low, 16)}-${reader.hex(at + NETWORK_RECORD.high, 16)}`;
  return `  trusts ipv${reader.u32(at + NETWORK_RECORD.family)} ${range}`;
}

function dumpNode(reader: TableReader, at: number, index: number): string {
  const label = reader.text(at + HOST_NODE.labelOffset);
  const exact = maybe(reader.u32(at + HOST_NODE.exact));
  const wildcard = maybe(reader.u32(at + HOST_NODE.wildcard));
  return `node ${index} parent=${maybe(reader.u32(at + HOST_NODE.parent))} label=${label} exact=${exact} wildcard=${wildcard}`;
}

function dumpVirtualHost(reader: TableReader, at: number, index: number): string {
  const first = reader.u32(at + VIRTUAL_HOST_RECORD.entryFirst);
  const entries = reader.run('pathEntries', first, reader.u32(at + VIRTUAL_HOST_RECORD.entryCount), dumpPathEntry);
  const line = [
    `host ${index} ${reader.text(at + VIRTUAL_HOST_RECORD.hostnameOffset)}`,
    `next=${maybe(reader.u32(at + VIRTUAL_HOST_RECORD.next))}`,
    `prefix-levels=${maybe(reader.u32(at + VIRTUAL_HOST_RECORD.prefixLevels))}`,
    `has-exact=${reader.u32(at + VIRTUAL_HOST_RECORD.hasExact)}`,
  ].join(' ');
  return [line, ...entries].join('\n');
}

function dumpPathEntry(reader: TableReader, at: number): string {
  const kind = reader.u32(at + PATH_ENTRY.kind) === PATH_EXACT ? 'exact' : 'prefix';
  const first = reader.u32(at + PATH_ENTRY.matchFirst);
  const matches = reader.run('matches', first, reader.u32(at + PATH_ENTRY.matchCount), dumpMatch);
  return [`  ${kind} ${reader.text(at + PATH_ENTRY.pathOffset)}`, ...matches].join('\n');
}

function dumpMatch(reader: TableReader, at: number): string {
  const first = reader.u32(at + MATCH_RECORD.headerFirst);
  const headers = reader.run('headers', first, reader.u32(at + MATCH_RECORD.headerCount), dumpHeader).join('');
  const method = reader.text(at + MATCH_RECORD.methodOffset);
  return `    match method=${method}${headers} action=${reader.u32(at + MATCH_RECORD.action)}`;
}

function dumpHeader(reader: TableReader, at: number): string {
  return ` header ${reader.text(at + HEADER_RECORD.nameOffset)}=${reader.text(at + HEADER_RECORD.valueOffset)}`;
}

function dumpAction(reader: TableReader, at: number, index: number): string {
  const backendFirst = reader.u32(at + ACTION_RECORD.backendFirst);
  const sequenceFirst = reader.u32(at + ACTION_RECORD.sequenceFirst);
  const sequence = reader.run('sequences', sequenceFirst, reader.u32(at + ACTION_RECORD.sequenceCount), dumpStep);
  const line = [
    `action ${index} ${reader.text(at + ACTION_RECORD.nameOffset)}`,
    `slot=${reader.u32(at + ACTION_RECORD.slot)}`,
    `request-timeout=${reader.u32(at + ACTION_RECORD.requestTimeoutMs)}`,
    `backend-request-timeout=${reader.u32(at + ACTION_RECORD.backendRequestTimeoutMs)}`,
  ].join(' ');
  return [
    line,
    ...reader.run('backends', backendFirst, reader.u32(at + ACTION_RECORD.backendCount), dumpBackend),
    ...(sequence.length > 0 ? [`  sequence${sequence.join('')}`] : []),
  ].join('\n');
}

function dumpBackend(reader: TableReader, at: number): string {
  const kind = reader.u32(at + BACKEND_RECORD.kind) === BACKEND_CLUSTER ? 'set' : 'status';
  return `  backend ${kind}=${reader.u32(at + BACKEND_RECORD.value)} weight=${reader.u32(at + BACKEND_RECORD.weight)}`;
}

function dumpStep(reader: TableReader, at: number): string {
  return ` ${reader.u16(at + SEQUENCE_ENTRY.backend)}`;
}

function maybe(index: number): string {
  return index === NONE ? '-' : String(index);
}

function quoteByte(byte: number): string {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
  if (byte >= 0x20 && byte <= 0x7e) return String.fromCharCode(byte);
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}
