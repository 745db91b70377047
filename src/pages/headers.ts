/**
 * Headers of every page. `form-action` also bounds where the answer to a form may redirect to. So
 * the way to a client's address is a link or a reload, never the answer to a form.
 */
export const policyWith = (formTargets: readonly string[]): string =>
  `default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action ${["'self'", ...formTargets].join(' ')}; frame-ancestors 'none'; base-uri 'none'`;

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
