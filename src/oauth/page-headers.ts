/**
 * Headers of every page: nothing from outside, no script but ours, no frame around it, and nothing kept.
 *
 * `form-action` also bounds where a form's answer may redirect to, so whatever leads to a client's own address is a link or
 * a reload, never the answer to a form.
 */
const policyWith = (formTargets: readonly string[]): string =>
  `default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action ${["'self'", ...formTargets].join(' ')}; frame-ancestors 'none'; base-uri 'none'`;

/** An app's address has no origin that a policy could name: its scheme is its name. */
const sourceOf = ({ origin, protocol }: URL): string => (origin === 'null' ? protocol : origin);

/** Of a page whose form's answer may lead to this address: a registered one, never one that only the request names. */
export const pageHeadersLeadingTo = (address: string): Readonly<Record<string, string>> => ({
  ...pageHeaders,
  'content-security-policy': policyWith(URL.canParse(address) ? [sourceOf(new URL(address))] : []),
});

export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': policyWith([]),
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
