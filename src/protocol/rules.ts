/** What an operator may decide about the protocol; everything else about it is fixed. */
export interface ProtocolRules {
  /**
   * Host parts that profile and service URIs may have. They are dialects: each accepted authority means the same, and
   * an answer uses the one that the request used.
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
