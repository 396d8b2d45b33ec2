// Generated from native/crates/table/src/layout.rs by native/xtask (cargo run -p xtask -- gen). Do not edit; CI compares.

/** Hash of every name, offset and constant below; a table of another hash is refused. */
export const LAYOUT_HASH = 0x1756771b1e588ffdn;

/** Byte size and field offsets of `Header`: magic u32, sections u32, layoutHash u64, generation u64, length u32, hashSeed u32, hostProbe u32, pathProbe u32. */
export const HEADER = {
  size: 40,
  magic: 0,
  sections: 4,
  layoutHash: 8,
  generation: 16,
  length: 24,
  hashSeed: 28,
  hostProbe: 32,
  pathProbe: 36,
} as const;

/** Byte size and field offsets of `SectionEntry`: offset u32, count u32. */
export const SECTION_ENTRY = {
  size: 8,
  offset: 0,
  count: 4,
} as const;

/** Byte size and field offsets of `SettingsRecord`: workers u32, maxHeadBytes u32, maxHeaders u32, maxIdlePerEndpoint u32, flags u32, logTargetOffset u32, logTargetLength u32, reserved u32. */
export const SETTINGS_RECORD = {
  size: 32,
  workers: 0,
  maxHeadBytes: 4,
  maxHeaders: 8,
  maxIdlePerEndpoint: 12,
  flags: 16,
  logTargetOffset: 20,
  logTargetLength: 24,
  reserved: 28,
} as const;

/** Byte size and field offsets of `SocketRecord`: protocol u32, listenerRoot u32, tcpListener u32, keyOffset u32, keyLength u32, firstListener u32. */
export const SOCKET_RECORD = {
  size: 24,
  protocol: 0,
  listenerRoot: 4,
  tcpListener: 8,
  keyOffset: 12,
  keyLength: 16,
  firstListener: 20,
} as const;

/** Byte size and field offsets of `ListenerRecord`: slot u32, protocol u32, idleMs u32, headerMs u32, connectMs u32, streamIdleMs u32, tunnelIdleMs u32, halfClosedMs u32, routeRoot u32, tcpAction u32, trustedFirst u32, trustedCount u32, nameOffset u32, nameLength u32, hostnameOffset u32, hostnameLength u32. */
export const LISTENER_RECORD = {
  size: 64,
  slot: 0,
  protocol: 4,
  idleMs: 8,
  headerMs: 12,
  connectMs: 16,
  streamIdleMs: 20,
  tunnelIdleMs: 24,
  halfClosedMs: 28,
  routeRoot: 32,
  tcpAction: 36,
  trustedFirst: 40,
  trustedCount: 44,
  nameOffset: 48,
  nameLength: 52,
  hostnameOffset: 56,
  hostnameLength: 60,
} as const;

/** Byte size and field offsets of `HostNode`: parent u32, labelOffset u32, labelLength u32, exact u32, wildcard u32. */
export const HOST_NODE = {
  size: 20,
  parent: 0,
  labelOffset: 4,
  labelLength: 8,
  exact: 12,
  wildcard: 16,
} as const;

/** Byte size and field offsets of `HostEdge`: hash u32, child u32. */
export const HOST_EDGE = {
  size: 8,
  hash: 0,
  child: 4,
} as const;

/** Byte size and field offsets of `VirtualHostRecord`: hostnameOffset u32, hostnameLength u32, entryFirst u32, entryCount u32, prefixLevels u32, hasExact u32, next u32, reserved u32. */
export const VIRTUAL_HOST_RECORD = {
  size: 32,
  hostnameOffset: 0,
  hostnameLength: 4,
  entryFirst: 8,
  entryCount: 12,
  prefixLevels: 16,
  hasExact: 20,
  next: 24,
  reserved: 28,
} as const;

/** Byte size and field offsets of `PathEntry`: virtualHost u32, kind u32, pathOffset u32, pathLength u32, matchFirst u32, matchCount u32. */
export const PATH_ENTRY = {
  size: 24,
  virtualHost: 0,
  kind: 4,
  pathOffset: 8,
  pathLength: 12,
  matchFirst: 16,
  matchCount: 20,
} as const;

/** Byte size and field offsets of `PathSlot`: hash u32, entry u32. */
export const PATH_SLOT = {
  size: 8,
  hash: 0,
  entry: 4,
} as const;

/** Byte size and field offsets of `MatchRecord`: action u32, methodOffset u32, methodLength u32, headerFirst u32, headerCount u32. */
export const MATCH_RECORD = {
  size: 20,
  action: 0,
  methodOffset: 4,
  methodLength: 8,
  headerFirst: 12,
  headerCount: 16,
} as const;

/** Byte size and field offsets of `HeaderRecord`: nameOffset u32, nameLength u32, valueOffset u32, valueLength u32. */
export const HEADER_RECORD = {
  size: 16,
  nameOffset: 0,
  nameLength: 4,
  valueOffset: 8,
  valueLength: 12,
} as const;

/** Byte size and field offsets of `ActionRecord`: slot u32, requestTimeoutMs u32, backendRequestTimeoutMs u32, backendFirst u32, backendCount u32, sequenceFirst u32, sequenceCount u32, nameOffset u32, nameLength u32. */
export const ACTION_RECORD = {
  size: 36,
  slot: 0,
  requestTimeoutMs: 4,
  backendRequestTimeoutMs: 8,
  backendFirst: 12,
  backendCount: 16,
  sequenceFirst: 20,
  sequenceCount: 24,
  nameOffset: 28,
  nameLength: 32,
} as const;

/** Byte size and field offsets of `BackendRecord`: kind u32, value u32, weight u32, cumulative u32. */
export const BACKEND_RECORD = {
  size: 16,
  kind: 0,
  value: 4,
  weight: 8,
  cumulative: 12,
} as const;

/** Byte size and field offsets of `SequenceEntry`: backend u16. */
export const SEQUENCE_ENTRY = {
  size: 2,
  backend: 0,
} as const;

/** Byte size and field offsets of `NetworkRecord`: low bytes, high bytes, family u32, reserved u32. */
export const NETWORK_RECORD = {
  size: 40,
  low: 0,
  high: 16,
  family: 32,
  reserved: 36,
} as const;

/** Byte size and field offsets of `EndpointsHead`: epoch u64, arenaUsed u64. */
export const ENDPOINTS_HEAD = {
  size: 16,
  epoch: 0,
  arenaUsed: 8,
} as const;

/** Byte size and field offsets of `EndpointBlock`: slot u32, endpoints u32, sequence u32, reserved u32. */
export const ENDPOINT_BLOCK = {
  size: 16,
  slot: 0,
  endpoints: 4,
  sequence: 8,
  reserved: 12,
} as const;

/** Byte size and field offsets of `EndpointRecord`: family u8, health u8, port u16, slot u32, ip bytes. */
export const ENDPOINT_RECORD = {
  size: 24,
  family: 0,
  health: 1,
  port: 2,
  slot: 4,
  ip: 8,
} as const;

/** Byte size and field offsets of `WorkerControl`: heartbeatMs u64, epoch u64, generation u64, connections u32, paused u32, pid u32, requestsInflight u32, logDropped u64, accepts u64, pipeFallbacks u64, oldestGeneration u64. */
export const WORKER_CONTROL = {
  size: 72,
  heartbeatMs: 0,
  epoch: 8,
  generation: 16,
  connections: 24,
  paused: 28,
  pid: 32,
  requestsInflight: 36,
  logDropped: 40,
  accepts: 48,
  pipeFallbacks: 56,
  oldestGeneration: 64,
} as const;

/** Byte size and field offsets of `LogRingHead`: head u64, dropped u64, pad bytes, tail u64. */
export const LOG_RING_HEAD = {
  size: 72,
  head: 0,
  dropped: 8,
  pad: 16,
  tail: 64,
} as const;

/** Byte size and field offsets of `LogEntry`: length u32, kind u32. */
export const LOG_ENTRY = {
  size: 8,
  length: 0,
  kind: 4,
} as const;

/** Byte size and field offsets of `AccessHead`: timeUs u64, durationUs u64, upstreamUs u64, generation u64, bytesIn u64, bytesOut u64, clientIp bytes, upstreamIp bytes, clientPort u16, upstreamPort u16, status u16, clientFamily u8, upstreamFamily u8, protocol u8, closeReason u8, retries u8, reserved u8, methodLength u16, hostLength u16, pathLength u16, listenerLength u16, actionLength u16, userAgentLength u16. */
export const ACCESS_HEAD = {
  size: 104,
  timeUs: 0,
  durationUs: 8,
  upstreamUs: 16,
  generation: 24,
  bytesIn: 32,
  bytesOut: 40,
  clientIp: 48,
  upstreamIp: 64,
  clientPort: 80,
  upstreamPort: 82,
  status: 84,
  clientFamily: 86,
  upstreamFamily: 87,
  protocol: 88,
  closeReason: 89,
  retries: 90,
  reserved: 91,
  methodLength: 92,
  hostLength: 94,
  pathLength: 96,
  listenerLength: 98,
  actionLength: 100,
  userAgentLength: 102,
} as const;

/** Sections of a table in the order of the directory, with the bytes of one record. */
export const SECTIONS = [
  { name: 'settings', size: 32 },
  { name: 'sockets', size: 24 },
  { name: 'listeners', size: 64 },
  { name: 'hostNodes', size: 20 },
  { name: 'hostEdges', size: 8 },
  { name: 'virtualHosts', size: 32 },
  { name: 'pathEntries', size: 24 },
  { name: 'pathSlots', size: 8 },
  { name: 'matches', size: 20 },
  { name: 'headers', size: 16 },
  { name: 'actions', size: 36 },
  { name: 'backends', size: 16 },
  { name: 'sequences', size: 2 },
  { name: 'networks', size: 40 },
  { name: 'strings', size: 1 },
] as const;

/** Name of a section. */
export type SectionName = (typeof SECTIONS)[number]['name'];

export const MAGIC = 827606871;
export const NONE = 4294967295;
export const SECTION_COUNT = 15;
export const MAX_TABLE_BYTES = 2147483648;
export const FLAG_VIA = 1;
export const FLAG_ACCESS_LOG = 2;
export const PROTOCOL_NONE = 0;
export const PROTOCOL_HTTP = 1;
export const PROTOCOL_TCP = 2;
export const PATH_EXACT = 0;
export const PATH_PREFIX = 1;
export const PREFIX_LEVELS_NONE = 4294967295;
export const BACKEND_CLUSTER = 1;
export const BACKEND_INVALID = 2;
export const MAX_SEQUENCE = 4096;
export const MAX_LABELS = 128;
export const MAX_SOCKETS = 65536;
export const MAX_SLOTS = 1048576;
export const SLOT_CELLS = 16;
export const MAX_WORKERS = 64;
export const MAX_SETS = 262144;
export const CONTROL_STRIDE = 4096;
export const CONTROL_BYTES = 262144;
export const REASON_CELLS = 256;
export const ENGINE_CELLS_FIRST = 256;
export const ENGINE_CELLS = 256;
export const COUNTERS_SLOTS_OFFSET = 4096;
export const COUNTERS_BYTES = 134221824;
export const GAUGES_BYTES = 4194304;
export const CURSORS_RESTING_OFFSET = 4194304;
export const CURSORS_BYTES = 12582912;
export const ENDPOINT_DIRECTORY_OFFSET = 4096;
export const ENDPOINT_ARENA_OFFSET = 1052672;
export const ENDPOINT_BLOCK_ALIGN = 64;
export const MAX_ENDPOINTS = 65535;
export const HEALTH_DOWN = 0;
export const HEALTH_UP = 1;
export const LOG_RING_DATA_OFFSET = 4096;
export const LOG_RING_BYTES = 1048576;
export const LOG_MAX_PAYLOAD = 8192;
export const LOG_KIND_ACCESS = 1;
export const ACCESS_HTTP10 = 0;
export const ACCESS_HTTP11 = 1;
export const ACCESS_TCP = 2;
export const ACCESS_UPGRADE = 3;
