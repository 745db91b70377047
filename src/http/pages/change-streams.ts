/**
 * Server-sent events for the waiting page: one event, when there is something new. Further pages of
 * one login poll.
 */
import type { Context } from 'hono';
import { createEventStreams } from './event-stream.ts';
import { answerJson, pageHeaders } from './headers.ts';

const maxOfOne = 4;

export const createChangeStreams = (options: {
  readonly stopping: AbortSignal;
  readonly onError: (error: Error) => void;
}) => {
  const open = createEventStreams({ ...options, maxOfOne });
  /**
   * @param changed Resolves with true to reload the page, with false when nobody waits any more.
   */
  return (c: Context, uid: string, changed: (gone: AbortSignal) => Promise<boolean>): Response => {
    const stream = open(
      c,
      uid,
      async ({ send, signal }) => {
        if ((await changed(signal)) && !signal.aborted) await send('changed', 'ended');
      },
      { headers: pageHeaders },
    );
    return stream instanceof Response
      ? stream
      : answerJson({ state: 'open' }, stream === 'stopping' ? 503 : 429);
  };
};
