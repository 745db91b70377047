/**
 * Whether the job of a child is the one that its parent has started.
 *
 * The id of a child can be foreseen, and other programs may add jobs. A job with another input or
 * another chart would answer in the place of the child. So before its first turn a child is compared
 * with the record of its parent, which names the chart, the run and the input.
 */
import { isDeepStrictEqual } from 'node:util';
import { readJobName } from './define.ts';
import type { Parent } from './interpret.ts';
import { recordSchema } from './record.ts';
import type { StoredInstance } from './redis/instance-store.ts';

/**
 * own      The parent has started it.
 * another  The parent has started another one under this id, and waits for its end.
 * early    The parent has not started it yet.
 * stray    No instance waits for it (any more).
 */
export type ChildStanding = 'own' | 'another' | 'early' | 'stray';

export const standingOf = (
  job: { readonly name: string; readonly data: unknown },
  { child: name, run }: Parent,
  parent: Pick<StoredInstance, 'record' | 'finishedOn'> | undefined,
): ChildStanding => {
  if (parent === undefined || parent.finishedOn !== undefined) return 'stray';
  const { data: record } = recordSchema.safeParse(parent.record);
  if (record === undefined || run >= record.next) return 'early';
  const child = Object.hasOwn(record.children ?? {}, name) ? record.children?.[name] : undefined;
  if (child?.run !== run || child.ended) return 'stray';
  const named = readJobName(job.name);
  const isChart = named.name === `${record.workflow}-${child.src}` && named.version === record.version;
  // BullMQ stores an object where there is no data.
  return isChart && isDeepStrictEqual(job.data ?? {}, child.input ?? {}) ? 'own' : 'another';
};
