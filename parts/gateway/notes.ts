/**
 * Stores the notes about transactions at other services in their jobs, so that they are removed
 * with them (parts/gateway/device.ts says when a note is written).
 */
import { z } from 'zod';
import { type Shard, shardFor } from '../../src/transactions/shards.ts';
import { upstreamField } from '../../src/transactions/upstreams.ts';

const noteSchema = z.object({
  gateway: z.string(),
  sent: z.string(),
  msspTransId: z.string().optional(),
  profile: z.string().optional(),
  troubledAt: z.number().optional(),
});
type Note = Readonly<z.infer<typeof noteSchema>>;

/** Reads a note, which other programs may have written. A bad one must not cause another prompt. */
const read = (text: string): Note => {
  try {
    return noteSchema.parse(JSON.parse(text));
  } catch {
    return { gateway: '', sent: '' };
  }
};

/** Makes the store of notes for devices behind gateways. */
export const createGatewayNotes = (shards: readonly Shard[]) => ({
  claim: async (id: string, attempt: number, note: Note): Promise<Note | 'none' | 'gone'> => {
    const jobs = shardFor(shards, id)?.signatures.jobs;
    const before = await jobs?.note(id, upstreamField(attempt), JSON.stringify(note), {
      once: true,
    });
    if (before === undefined) return 'gone';
    return before === '' ? 'none' : read(before);
  },
  write: async (id: string, attempt: number, note: Note | undefined): Promise<void> => {
    const text = note === undefined ? '' : JSON.stringify(note);
    await shardFor(shards, id)?.signatures.jobs.note(id, upstreamField(attempt), text);
  },
});
