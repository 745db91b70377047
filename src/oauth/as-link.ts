/**
 * OpenID Connect wants the authorisation and the logout endpoint to take forms as well (Core 3.1.2.1, RP-Initiated Logout 2). A
 * form from elsewhere brings no cookies of ours, since they are SameSite; so it becomes the link that it stands for, and the
 * browser follows that with its cookies.
 */

import { isForm } from './par/form.ts';
import { type BodyLimits, readBody } from './par/read-body.ts';
import type { FrontRefusal } from './refuse-at-front.ts';

/** Longer addresses are cut or refused by servers and proxies on the way. */
export const longestQuery = 8192;

const refuse = (status: 400 | 413, text: string): FrontRefusal => ({
  status,
  error: 'invalid_request',
  text,
});

export const tooLong = refuse(413, 'the request is too long: push it');

/** @returns Where to send the browser. Never rejects for something that the caller did. */
export const linkOf = async (
  request: Request,
  address: string,
  limits: BodyLimits,
): Promise<{ readonly location: string } | FrontRefusal> => {
  if (!isForm(request.headers.get('content-type') ?? undefined)) {
    return refuse(400, 'Content-Type must be application/x-www-form-urlencoded');
  }
  const body = await readBody(request, request.headers.get('content-length') ?? undefined, {
    ...limits,
    maxBytes: longestQuery,
  });
  if (!body.ok) return body.reason === 'bodyTooLarge' ? tooLong : refuse(400, 'the form is incomplete');
  // Written anew, so that nothing in it can leave the header.
  const query = new URLSearchParams(Buffer.from(body.bytes).toString('utf8'));
  return { location: `${address}?${query}` };
};
