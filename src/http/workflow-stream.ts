/**
 * The changes of an instance of a workflow as server-sent events.
 *
 * A stream holds a connection and looks at the instance, so there is a limited number of them. It
 * ends with the instance, when its reader goes, when this process stops, and after ten minutes in
 * any case: readers connect again by themselves.
 *
 * Source: HTML Living Standard, section 9.2.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { ProcessView } from '../../machines/process-report.ts';
import { processName } from '../workflows/stock-process.ts';
import type { Workflows, WorkflowView } from '../workflows/workflows.ts';
import type { HttpLog } from './log.ts';

const maxStreams = 256;
const maxStreamsOfOne = 16;
const streamMs = 600_000;
const heartbeatMs = 15_000;
/** Between two looks; longer while nothing changes. */
const firstPauseMs = 200;
const maxPauseMs = 3000;

const isoOf = (at: number): string => new Date(at).toISOString();

/** Of the stock process: each `at` is a time. Charts of one's own publish what they like. */
const withTimes = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withTimes);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    name === 'at' && typeof member === 'number' ? isoOf(member) : withTimes(member),
  ]);
  return Object.fromEntries(members);
};

/** Adds the `link` of each signer that has one. @param links Of signers, by step and key. */
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
  /** The address of the signer's page. Whoever has it can read and decline: it is never logged. */
  readonly link: string | undefined;
}

const presentProcess = ({ context, output }: WorkflowView, links: readonly SignerLink[]) => {
  const linked = links.length === 0 ? context : withLinks(context, links);
  return { context: withTimes(linked), output: withTimes(output) };
};

export const presentWorkflow = (
  { createdAt, endedAt, ...view }: WorkflowView,
  links: readonly SignerLink[] = [],
) => ({
  ...view,
  ...(view.name === processName && presentProcess({ createdAt, endedAt, ...view }, links)),
  createdAt: isoOf(createdAt),
  ...(endedAt !== undefined && { endedAt: isoOf(endedAt) }),
});

export const createWorkflowStreams = ({ find }: Pick<Workflows, 'find'>, log: Pick<HttpLog, 'trouble'>) => {
  const stopped = new AbortController();
  const openFor = new Map<string, number>();
  let open = 0;

  const tell = async (
    stream: SSEStreamingApi,
    look: () => Promise<WorkflowView | undefined>,
  ): Promise<void> => {
    const until = performance.now() + streamMs;
    let last = '';
    let saidAt = 0;
    let pauseMs = firstPauseMs;
    while (!stream.aborted && !stopped.signal.aborted && performance.now() < until) {
      const view = await look();
      if (view === undefined) return;
      const data = JSON.stringify(presentWorkflow(view));
      const isOver = view.status !== 'open';
      const isSilent = performance.now() - saidAt >= heartbeatMs;
      if (data !== last) await stream.writeSSE({ event: isOver ? 'end' : 'state', data });
      else if (isSilent) await stream.write(':\n\n');
      if (data !== last || isSilent) saidAt = performance.now();
      if (isOver) return;
      pauseMs = data === last ? Math.min(pauseMs * 1.3, maxPauseMs) : firstPauseMs;
      last = data;
      await delay(pauseMs, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  };

  const leave = (apId: string): void => {
    open -= 1;
    const left = (openFor.get(apId) ?? 1) - 1;
    if (left === 0) openFor.delete(apId);
    else openFor.set(apId, left);
  };

  return {
    open: async (
      c: Context,
      apId: string,
      name: string,
      id: string,
    ): Promise<Response | 'stopping' | 'too-many' | 'unknown'> => {
      if (stopped.signal.aborted) return 'stopping';
      if ((await find(apId, name, id)) === undefined) return 'unknown';
      // Hono runs GET for HEAD and drops the body: nobody would read the stream, and so end it.
      if (c.req.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' });
      const others = openFor.get(apId) ?? 0;
      if (others >= maxStreamsOfOne || open >= maxStreams) return 'too-many';
      openFor.set(apId, others + 1);
      open += 1;
      // nginx would hold events back until it has a buffer full of them.
      c.header('x-accel-buffering', 'no');
      return streamSSE(c, async (stream) => {
        try {
          await tell(stream, () => find(apId, name, id));
        } catch (error) {
          // Hono would write it past the log. The reader connects again.
          log.trouble(error instanceof Error ? error : new Error(String(error)));
        } finally {
          leave(apId);
        }
      });
    },
    /** Ends all of them, and lets no new one begin. */
    close: (): void => stopped.abort(),
  };
};
