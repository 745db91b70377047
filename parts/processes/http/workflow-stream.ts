/** An instance of a workflow as HTTP shows it, and its changes as server-sent events. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'hono';
import type { HttpLog } from '../../../src/http/log.ts';
import { createEventStreams, type OpenStream } from '../../../src/http/pages/event-stream.ts';
import type { ProcessView } from '../charts/process-report.ts';
import { processName } from '../workflows/stock-process.ts';
import type { Workflows, WorkflowView } from '../workflows/workflows.ts';

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

/**
 * Writes the times of the stock process (`at`, `revokedAt`) as ISO 8601. Own charts publish any
 * values and are not changed by it.
 */
const withTimes = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withTimes);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    (name === 'at' || name === 'revokedAt') && typeof member === 'number'
      ? isoOf(member)
      : withTimes(member),
  ]);
  return Object.fromEntries(members);
};

/** Adds its `link` to each signer that has one. */
const withLinks = (context: unknown, links: readonly SignerLink[]): unknown => {
  const { steps = [], ...others } = context as ProcessView;
  const linkOf = (step: string, key: string) =>
    links.find((each) => each.step === step && each.key === key)?.link;
  return {
    ...others,
    steps: steps.map(({ signers, ...step }) => ({
      ...step,
      signers: signers.map((signer) => ({ ...signer, link: linkOf(step.name, signer.key) })),
    })),
  };
};

export interface SignerLink {
  readonly step: string;
  readonly key: string;
  /** The address of the signer's page. It lets anyone read and decline, so it is never logged. */
  readonly link: string | undefined;
}

/** Adds links and times. The links are read after the view, so a first turn may lie in between. */
const presentProcess = ({ context, output }: WorkflowView, links: readonly SignerLink[]) => {
  const linked = context === undefined || links.length === 0 ? context : withLinks(context, links);
  return { context: withTimes(linked), output: withTimes(output) };
};

export const presentWorkflow = (view: WorkflowView, links: readonly SignerLink[] = []) => ({
  ...view,
  ...(view.name === processName && presentProcess(view, links)),
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
      const data = JSON.stringify(presentWorkflow(view));
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
