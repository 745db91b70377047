/** An instance of a workflow as HTTP shows it, and its changes as server-sent events. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'hono';
import type { Instance } from '../../../packages/engine/src/engine.ts';
import type { HttpLog } from '../../../src/http/log.ts';
import { createEventStreams, type OpenStream } from '../../../src/http/pages/event-stream.ts';
import type { Present } from '../hosted.ts';
import type { Workflows, WorkflowView } from '../instances/workflows.ts';

const maxInAll = 256;
const maxOfOne = 16;
/**
 * The most streams of unregistered applications together, and of those behind one address. In a
 * sandbox anyone can invent AP_IDs, and sixteen of them could take all streams.
 */
const maxUnregistered = 192;
const maxOfAddress = 64;
/** The pauses between two reads of an instance: from the first to the longest without a change. */
const firstPauseMs = 200;
const maxPauseMs = 3000;

const isoOf = (at: number): string => new Date(at).toISOString();

/** How HTTP shows instances of workflows of parts, by the name of the workflow. */
export type Presents = Readonly<Record<string, Present>>;

/** @param instance Where it alone was asked for, and it is open. */
export const presentWorkflow = (view: WorkflowView, presents: Presents, instance?: Instance) => ({
  ...view,
  ...(Object.hasOwn(presents, view.name) && presents[view.name]?.(view, instance)),
  createdAt: isoOf(view.createdAt),
  endedAt: view.endedAt === undefined ? undefined : isoOf(view.endedAt),
});

type Journal = NonNullable<Awaited<ReturnType<Workflows['journal']>>>;

/** The journal as JSON. An entry has a `path` only when it is about a child. */
export const presentJournal = ({ entries, dropped }: Journal) => ({
  entries: entries.map(({ at, path, ...entry }) => ({
    at: isoOf(at),
    ...(path !== '' && { path }),
    ...entry,
  })),
  dropped,
});

export const createWorkflowStreams = (
  { find }: Pick<Workflows, 'find'>,
  presents: Presents,
  log: Pick<HttpLog, 'trouble'>,
) => {
  const stopped = new AbortController();
  const limits = { stopping: stopped.signal, maxOfOne, maxInAll };
  const openStream = createEventStreams({ ...limits, onError: log.trouble });

  const tell = async (
    { send, signal }: OpenStream,
    look: () => Promise<WorkflowView | undefined>,
  ): Promise<void> => {
    let last = '';
    let pauseMs = firstPauseMs;
    while (!signal.aborted) {
      const view = await look();
      if (view === undefined) return;
      const data = JSON.stringify(presentWorkflow(view, presents));
      const isOver = view.status !== 'open';
      if (data !== last) await send(isOver ? 'end' : 'state', data);
      if (isOver) return;
      pauseMs = data === last ? Math.min(pauseMs * 1.3, maxPauseMs) : firstPauseMs;
      last = data;
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  };

  return {
    /** @param stranger The address of the caller of an unregistered application. */
    open: async (
      c: Context,
      apId: string,
      name: string,
      id: string,
      stranger: { readonly origin: string } | undefined,
    ): Promise<Response | 'stopping' | 'too-many' | 'unknown'> => {
      const look = () => find(apId, name, id);
      if ((await look()) === undefined) return 'unknown';
      const within =
        stranger === undefined
          ? []
          : [
              { of: 'unregistered', max: maxUnregistered },
              { of: `unregistered at ${stranger.origin}`, max: maxOfAddress },
            ];
      return openStream(c, apId, (stream) => tell(stream, look), { within });
    },
    /** Ends all streams, and lets no new one begin. */
    close: (): void => stopped.abort(),
  };
};
