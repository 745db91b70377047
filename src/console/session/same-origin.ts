/**
 * Whether a request was made by a page of ours, as browsers tell it.
 *
 * `Sec-Fetch-Site` comes with every request over https or to this machine; `Origin` with every unsafe one. A page cannot
 * write either.
 *
 * Source: Fetch Metadata Request Headers, section 2.3; Fetch Standard, section 3.2.
 */
export type Origin = 'ours' | 'other' | 'unsaid';

export const originOf = (header: (name: string) => string | undefined, publicUrl: string): Origin => {
  const site = header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' ? 'ours' : 'other';
  const origin = header('origin');
  if (origin === undefined) return 'unsaid';
  if (!URL.canParse(origin)) return 'other';
  const { host, origin: named } = new URL(origin);
  return host === header('host') || named === new URL(publicUrl).origin ? 'ours' : 'other';
};
