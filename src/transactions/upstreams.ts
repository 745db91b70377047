/**
 * Transactions at other services. Each attempt that was handed on has a field of the job, so that
 * its data is removed with the transaction. The device that hands it on writes the field.
 */
import { type UpstreamTransaction, upstreamSchema } from '../../packages/protocol/src/outcome.ts';

/** The field of an attempt: JSON, in which the members of UpstreamTransaction are among others. */
export const upstreamField = (attempt: number): string => `upstream:${attempt}`;

/** Reads a field; undefined for a malformed one, because other programs can write to a job. */
const read = (text: string): UpstreamTransaction | undefined => {
  try {
    return upstreamSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};

/** The transactions at other services, one for each handed-on attempt, from the fields of a job. */
export const upstreamsIn = (job: Readonly<Record<string, string>>) =>
  Object.entries(job).flatMap(([field, text]) => {
    const attempt = Number(/^upstream:(\d+)$/.exec(field)?.[1]);
    const known = Number.isNaN(attempt) ? undefined : read(text);
    return known === undefined ? [] : [{ attempt, ...known }];
  });
