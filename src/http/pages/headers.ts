/**
 * Headers of every page, and answers that have them. `form-action` also bounds where the answer to
 * a form may redirect to. So the way to a client's address is a link or a reload, never the answer
 * to a form.
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

type Headers = Readonly<Record<string, string>>;

const answerAs =
  (type: string) =>
  (content: string, status = 200, headers: Headers = {}): Response =>
    new Response(content, {
      status,
      headers: { ...pageHeaders, 'content-type': type, ...headers },
    });

export const answerPage = answerAs('text/html;charset=UTF-8');

const answerText = answerAs('application/json;charset=UTF-8');

/** Answers the script of a page with JSON. */
export const answerJson = (data: object, status?: number, headers?: Headers): Response =>
  answerText(JSON.stringify(data), status, headers);

/** Sends the browser on, also after a form. */
export const goTo = (location: string): Response =>
  new Response(null, { status: 303, headers: { ...pageHeaders, location } });
