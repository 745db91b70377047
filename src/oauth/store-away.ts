/**
 * What the provider answers at all its addresses while Redis is away or takes no writes: the caller
 * may send the same again. RFC 6749 4.1.2.1 has the error; there is none for it in section 5.2, so
 * the endpoints for programs use the same.
 */
export const storeAway = {
  status: 503,
  error: 'temporarily_unavailable',
  text: 'the store does not answer or takes no writes; try again',
  /** Seconds. */
  retryAfter: 1,
} as const;
