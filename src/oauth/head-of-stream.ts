import type { Context } from 'hono';

/**
 * Answers HEAD where GET would open an event stream. Hono runs GET for it and lets go of the body, which nobody would then read
 * or end.
 *
 * @returns Undefined for any other method.
 */
export const headOfStream = ({ req }: Context): Response | undefined =>
  req.method === 'HEAD'
    ? new Response(null, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } })
    : undefined;
