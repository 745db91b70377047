/**
 * Checks the definition of a process.
 *
 * A definition that is not usable gives one error, the first. It names the place
 * (`steps[1].signers[0].msisdn`), never the value.
 */
import { z } from 'zod';
import { type DefinitionProblem, definitionSchema, type ProcessDefinition } from './definition.ts';
import { findProblem } from './definition-rules.ts';

/** Of nested arrays and objects. Conditions may be nested. */
const maxDepth = 24;

type Issue = z.core.$ZodIssue;

/** Of a union, the alternative that the input fits best: the one whose error lies deepest. */
const deepest = (issue: Issue, above: PropertyKey[] = []): Issue => {
  const path = [...above, ...issue.path];
  if (issue.code !== 'invalid_union') return { ...issue, path };
  const found = issue.errors.flatMap(([first]) => (first === undefined ? [] : [deepest(first, path)]));
  const isKnown = (each: Issue) => each.code !== 'unrecognized_keys';
  const [best] = found.toSorted(
    (one, other) => other.path.length - one.path.length || Number(isKnown(other)) - Number(isKnown(one)),
  );
  return best !== undefined && best.path.length > path.length ? best : { ...issue, path };
};

const problemOf = (given: Issue): DefinitionProblem => {
  const issue = deepest(given);
  if (issue.code === 'unrecognized_keys')
    return { place: z.core.toDotPath([...issue.path, issue.keys[0] ?? '']), words: 'is not known' };
  const place = z.core.toDotPath(issue.path);
  // The messages of zod itself may quote.
  const own = /^(?:must|may|is) /.test(issue.message) ? issue.message : undefined;
  if (own !== undefined) return { place, words: own };
  return {
    place,
    words: issue.code === 'invalid_type' ? `must be of type ${issue.expected}` : 'is not what it must be',
  };
};

const isTooDeep = (value: unknown, depth: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth === 0 || Object.values(value).some((part) => isTooDeep(part, depth - 1)));

/**
 * Checks a definition.
 *
 * @param now Milliseconds since the epoch: a deadline must be later.
 * @param isKnown Whether the service knows a number; digits.
 */
export const checkDefinition = (
  input: unknown,
  { now, isKnown }: { readonly now: number; readonly isKnown: (msisdn: string) => boolean },
):
  | { readonly ok: true; readonly definition: ProcessDefinition }
  | { readonly ok: false; readonly problem: DefinitionProblem } => {
  if (isTooDeep(input, maxDepth)) return { ok: false, problem: { place: '', words: 'is nested too deeply' } };
  const parsed = definitionSchema.safeParse(input);
  if (!parsed.success) {
    const [first] = parsed.error.issues;
    return { ok: false, problem: first ? problemOf(first) : { place: '', words: 'is not what it must be' } };
  }
  const problem = findProblem(parsed.data, { now, isKnown });
  return problem === undefined ? { ok: true, definition: parsed.data } : { ok: false, problem };
};
