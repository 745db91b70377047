/** The configurable part of the protocol. */
export interface ProtocolRules {
  /**
   * Host parts of profile and service URIs. All are equivalent; answers use that of the request.
   */
  readonly authorities: readonly string[];
  /** Bounds of TimeOut, both inclusive. */
  readonly minTimeoutSeconds: number;
  readonly maxTimeoutSeconds: number;
}

export const defaultProtocolRules: ProtocolRules = {
  authorities: ['mid.vendor.ch', 'mss.vendor.fi', 'mid.swisscom.ch', 'mss.ficom.fi'],
  minTimeoutSeconds: 1,
  maxTimeoutSeconds: 300,
};
