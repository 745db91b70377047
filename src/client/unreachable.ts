/** Why nobody answered, in words for a person. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be looked up now',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  ETIMEDOUT: 'the host does not answer',
  ECONNRESET: 'the connection broke off',
  EPIPE: 'the connection broke off',
  EPROTO: 'it does not speak TLS as expected',
  HPE_INVALID_CONSTANT: 'what answers there does not speak HTTP',
};

const codeOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  // The built-in fetch wraps what happened.
  return codeOf(error.cause);
};

/** @returns Words that can follow a colon. An error without a code of its own is named by its message. */
export const causeOf = (error: unknown): string => {
  const code = codeOf(error);
  if (code === undefined) return error instanceof Error ? error.message : String(error);
  return (Object.hasOwn(words, code) ? words[code] : undefined) ?? code;
};
