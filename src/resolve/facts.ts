/**
 * What resolution must know about the host. Plain data, gathered by the primary; nothing below the pipeline asks the host itself.
 */

export interface Facts {
  /** False: a Gateway without addresses binds 0.0.0.0 in place of the dual-stack `::`. */
  readonly hasIpv6: boolean;
  /** IP literals of all local addresses. 127.0.0.0/8 counts as local without being listed. */
  readonly hostAddresses: readonly string[];
  /** Sockets of the generation before, or of a first try of this one, that could not be opened. */
  readonly bindFailures: readonly BindFailure[];
  /** Networks in CIDR notation, separated by commas, from which Gateways get addresses; goes before `WeirgateConfig.addressPool`. */
  readonly addressPool?: string | undefined;
  /** `Model.assignedAddresses` of the generation before, so that addresses stay where they are. */
  readonly assignedAddresses: Readonly<Record<string, string>>;
}

/** Why a socket could not be opened. */
export interface BindFailure {
  /** `IrSocket.key`. */
  readonly key: string;
  /** Code of the system call, such as `EADDRINUSE`. */
  readonly reason: string;
  /** For people; names the owner of the port when it is known. */
  readonly message: string;
}
