/**
 * What the completion of shells offers as values. What is known when the script is printed is in
 * the script. Only ids are asked of the service, by `paraph completion-ids`.
 */
import type { Argument, Option } from 'commander';

/** A value, or a value with the words of its choice. */
export type Value = string | readonly [value: string, words: string];

export const idKinds = ['aps', 'instances'] as const;
export type IdKind = (typeof idKinds)[number];

type Parse = NonNullable<Option['parseArg']>;

/** By parser, because a parser is what knows the values. */
const known = new WeakMap<object, readonly Value[]>();

/** Remembers what a parser of an option or argument accepts. */
export const accepting = <P extends object>(values: readonly Value[], parse: P): P => {
  if (values.length > 0) known.set(parse, values);
  return parse;
};

/** Options and arguments of these names are ids. */
const idsByName: Readonly<Record<string, IdKind>> = {
  '--ap': 'aps',
  '--ap-id': 'aps',
  instance: 'instances',
};

/** @returns A list, or which ids the service is asked for; undefined where nothing is known. */
export const valuesOf = (one: Option | Argument): readonly Value[] | IdKind | undefined => {
  const { parseArg, argChoices } = one as { parseArg?: Parse; argChoices?: readonly string[] };
  const name = 'long' in one ? (one.long ?? '') : one.name();
  return (parseArg && known.get(parseArg)) ?? argChoices ?? idsByName[name];
};
