/**
 * How a person has set up the console: time zone, columns of the list, saved filters. It is kept
 * sealed beside the user's record, because filters hold numbers, and follows the person from one
 * browser to the next. `local` has one, too.
 *
 * Two changes at the same moment: the later one counts.
 */
import { z } from 'zod';
import type { SealedOptions } from './sealed.ts';

const viewSchema = z.object({
  /** `UTC`, `relative`, or a time zone of IANA. */
  times: z.string().default('UTC'),
  /** Names of columns; absent for the usual ones. */
  columns: z.array(z.string()).optional(),
  /** By name; each with its query: `state=failed&fault=401`. */
  filters: z.array(z.object({ name: z.string(), query: z.string() })).default([]),
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
    /** The usual view for a person who has changed nothing. */
    read,
    change: async (name: string, changes: Partial<View>): Promise<void> => {
      const changed = { ...(await read(name)), ...changes };
      await redis.hset(key, name, sealed.text.seal(placeOf(name), changed));
    },
    /** Of all who have one. */
    names: (): Promise<string[]> => redis.hkeys(key),
    remove: async (name: string): Promise<void> => {
      await redis.hdel(key, name);
    },
  };
};

export type Views = ReturnType<typeof createViews>;
