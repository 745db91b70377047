/**
 * What the provider answers at all its addresses while Redis is away or takes no writes: the caller
 * may send the same again. RFC 6749 has this error in section 4.1.2.1 and not in section 5.2, so
 * the endpoints for programs borrow it.
 */
export const storeAway = {
  status: 503,
  error: 'temporarily_unavailable',
  text: 'the store does not answer or takes no writes; try again',
  /** Seconds. */
  retryAfter: 1,
} as const;
