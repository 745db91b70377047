/**
 * Headers of everything below `/admin`: those of the provider's pages, whose reasons hold here too. The queue board is
 * another's program; of what it wants besides, its policy allows pictures and addresses relative to its own.
 */
import type { MiddlewareHandler } from 'hono';
import { pageHeaders } from '../../oauth/page-headers.ts';
import type { ConsoleEnvironment } from '../deps.ts';
import { isBoard } from './paths.ts';

/** No script but its own files, nothing from outside. Its colouring of JSON runs in a worker from the same place. */
const boardPolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; worker-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'self'";

export const consoleHeaders: MiddlewareHandler<ConsoleEnvironment> = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(pageHeaders)) {
    // Files that are named by their content may be kept.
    const keeps = name === 'cache-control' || name === 'content-security-policy';
    if (!keeps || !c.res.headers.has(name)) c.res.headers.set(name, value);
  }
  // Without any, a browser calls the origin of our own forms `null` (Fetch Standard, 3.2), and the login would refuse them.
  c.res.headers.set('referrer-policy', 'same-origin');
  if (isBoard(c.req.path)) c.res.headers.set('content-security-policy', boardPolicy);
};
