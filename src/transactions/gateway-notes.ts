/**
 * What is known of a transaction at another service, noted in its job, so that it lives and dies
 * with it (src/sscd/gateway.ts says when it is written).
 */
import { z } from 'zod';
import { upstreamSchema } from '../protocol/outcome.ts';
import { shardFor } from './answers.ts';
import type { Shard } from './shards.ts';

const noteSchema = z.object({
  gateway: z.string(),
  sent: z.string(),
  msspTransId: z.string().optional(),
  profile: z.string().optional(),
  troubledAt: z.number().optional(),
});
type Note = Readonly<z.infer<typeof noteSchema>>;

const fieldOf = (attempt: number): string => `upstream:${attempt}`;

/** Other programs can write to a job. An unreadable note must not lead to another prompt. */
const read = (text: string): Note => {
  try {
    return noteSchema.parse(JSON.parse(text));
  } catch {
    return { gateway: '', sent: '' };
  }
};

/** The notes that devices behind gateways need. */
export const createGatewayNotes = (shards: readonly Shard[]) => ({
  claim: async (id: string, attempt: number, note: Note): Promise<Note | 'none' | 'gone'> => {
    const jobs = shardFor(shards, id)?.signatures.jobs;
    const before = await jobs?.note(id, fieldOf(attempt), JSON.stringify(note), { once: true });
    if (before === undefined) return 'gone';
    return before === '' ? 'none' : read(before);
  },
  write: async (id: string, attempt: number, note: Note | undefined): Promise<void> => {
    const text = note === undefined ? '' : JSON.stringify(note);
    await shardFor(shards, id)?.signatures.jobs.note(id, fieldOf(attempt), text);
  },
});

/** The transactions at other services that an attempt each has led to, from the fields of a job. */
export const upstreamsIn = (job: Readonly<Record<string, string>>) =>
  Object.entries(job).flatMap(([field, text]) => {
    const attempt = Number(/^upstream:(\d+)$/.exec(field)?.[1]);
    const known = Number.isNaN(attempt) ? undefined : upstreamSchema.safeParse(read(text)).data;
    return known === undefined ? [] : [{ attempt, ...known }];
  });
