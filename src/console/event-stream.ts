/**
 * Server-sent events about changes. Each heartbeat checks that the session or token is still valid;
 * the stream ends when it is not.
 */
import { once } from 'node:events';
import type { Context } from 'hono';
import { createEventStreams } from '../http/pages/event-stream.ts';
import { refuse } from './answers.ts';
import type { ConsoleSession } from './deps.ts';
import type { Operators } from './operators/operators.ts';

const maxOfOne = 16;

export const createConsoleStreams = ({
  operators: { isStillIn },
  onError,
}: {
  readonly operators: Pick<Operators, 'isStillIn'>;
  readonly onError: (error: Error) => void;
}) => {
  const stopping = new AbortController();
  const open = createEventStreams({ stopping: stopping.signal, maxOfOne, onError });
  return {
    /**
     * @param begin Gets a function that sends. The function that it returns is called at the end.
     */
    open: (
      c: Pick<Context, 'req'>,
      session: ConsoleSession,
      begin: (send: (event: string, data: object) => void) => () => void,
    ): Response => {
      const opened = open(
        c,
        session.operator.name,
        async ({ send, signal }) => {
          const stop = begin((event, data) => void send(event, JSON.stringify(data)));
          await once(signal, 'abort');
          stop();
        },
        { isStillIn: () => isStillIn(session) },
      );
      if (opened === 'stopping') return refuse(503, 'stopping', 'This process is stopping');
      return opened === 'too-many'
        ? refuse(429, 'too-many', 'You have too many streams open')
        : opened;
    },
    /** Ends all streams, and lets no new one begin. */
    close: (): void => stopping.abort(),
  };
};

export type EventStreams = ReturnType<typeof createConsoleStreams>;
