/**
 * Headers of every page: nothing from outside, no script at all, no frame around it, and nothing kept.
 *
 * The form goes to the public address, and may be answered with a redirect to the login page, which is there, too. The referrer
 * stays within this origin: with none at all, browsers would hide from us where a form came from.
 */
export const pageHeaders = (publicUrl: string): Readonly<Record<string, string>> => ({
  'content-security-policy': `default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' ${publicUrl}; frame-ancestors 'none'; base-uri 'none'`,
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
});

/**
 * Whether a form was sent by a page of this server, so that no other site can begin a login in somebody's browser.
 *
 * Every browser says with a POST where it comes from. One that says nothing is asked to send the form once more.
 */
export const isFromOwnPage = (headers: Headers, publicUrl: string): boolean => {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  return headers.get('origin') === publicUrl;
};
