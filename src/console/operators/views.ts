/**
 * The view of a person: time zone, columns of the list and saved filters of the console. It is
 * stored sealed beside the record of the user, because filters hold numbers, and is the same in all
 * browsers. `local` has a view, too.
 *
 * Of two changes at the same moment the later one counts.
 */
import { z } from 'zod';
import type { SealedOptions } from './sealed.ts';

const viewSchema = z.object({
  /** The display of times: `UTC`, `relative`, or an IANA time zone. */
  times: z.string().default('UTC'),
  /** Names of columns; absent for the default columns. */
  columns: z.array(z.string()).optional(),
  /**
   * Saved filters by list and name, each with its query: `state=failed&fault=401`. Without a list it
   * is one of transactions.
   */
  filters: z
    .array(z.object({ list: z.string().optional(), name: z.string(), query: z.string() }))
    .default([]),
});
export type View = Readonly<z.output<typeof viewSchema>>;

export const usualView: View = viewSchema.parse({});

export const createViews = ({ redis, prefix, sealed }: SealedOptions) => {
  const key = `${prefix}:operators:views`;
  const placeOf = (name: string): string => `view ${name}`;
  const read = async (name: string): Promise<View> =>
    viewSchema.safeParse(sealed.text.open(placeOf(name), await redis.hget(key, name))).data ??
    usualView;
  return {
    /** Reads a view. A person who has changed nothing has the default view. */
    read,
    change: async (name: string, changes: Partial<View>): Promise<void> => {
      const changed = { ...(await read(name)), ...changes };
      await redis.hset(key, name, sealed.text.seal(placeOf(name), changed));
    },
    /** The names of all people with a view. */
    names: (): Promise<string[]> => redis.hkeys(key),
    remove: async (name: string): Promise<void> => {
      await redis.hdel(key, name);
    },
  };
};

export type Views = ReturnType<typeof createViews>;
