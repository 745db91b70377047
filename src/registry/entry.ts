/** Schemas that entries of the configuration file share. */
import { z } from 'zod';
import { readOrigin } from './web-address.ts';

export type DeepReadonly<T> = T extends readonly (infer Element)[]
  ? readonly DeepReadonly<Element>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** An integer within bounds, with its default. */
export const whole = (min: number, max: number, initial: number) =>
  z.int().min(min).max(max).default(initial);

export const amount = (min: number, max: number, initial: number) =>
  z.number().min(min).max(max).default(initial);

/** A number above zero, with its default. */
export const positive = (max: number, initial: number) =>
  z.number().positive().max(max).default(initial);

/** Yes or no, with its default and its meaning. */
export const flag = (initial: boolean, meaning: string) =>
  z.boolean().default(initial).describe(meaning);

/** An object whose keys all have defaults, so it may be left out itself. */
export const section = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape).prefault({} as never);

/** The address at which a server of the operator is reached, without path; optional. */
export const ownOrigin = z
  .string()
  .transform((written, context) => {
    const origin = readOrigin(written);
    if (origin !== undefined) return origin;
    const message =
      'must be an http or https address without path, query, fragment, user name or password';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .optional();

/** What a caller may do before it has to wait. */
export const allowance = (requests: number, perSeconds: number) =>
  section({
    requests: whole(1, 1_000_000, requests).describe('How many at once.'),
    perSeconds: whole(1, 86_400, perSeconds).describe(
      'Seconds in which that allowance refills, evenly.',
    ),
  });

/**
 * Refuses a list in which two entries have the same value of a key. @param told Makes the message
 * from the key and the index of the first entry.
 */
export const refuseRepeats =
  <Key extends string>(keys: readonly Key[], told: (key: Key, first: number) => string) =>
  (entries: readonly { readonly [Each in Key]?: unknown }[], context: z.RefinementCtx): void => {
    const firstIndexes = new Map<string, number>();
    for (const [index, entry] of entries.entries()) {
      for (const key of keys) {
        if (entry[key] === undefined) continue;
        const what = JSON.stringify([key, entry[key]]);
        const first = firstIndexes.get(what);
        if (first === undefined) firstIndexes.set(what, index);
        else context.addIssue({ code: 'custom', path: [index, key], message: told(key, first) });
      }
    }
  };
