/**
 * Checks the definition of a process.
 *
 * The error of a definition that is not usable names the place of each mistake
 * (`steps[1].signers[0].msisdn`), never the value. Rules between members are looked at when each
 * member is right.
 */
import type { z } from 'zod';
import { sayIssues, sayProblems } from '../../../packages/engine/src/issues.ts';
import type { DefinitionAddition } from './addition.ts';
import { createDefinitionSchema, longestList, type ProcessDefinition } from './definition.ts';
import { type DefinitionContext, findProblems } from './definition-rules.ts';

/** How deep arrays and objects may be nested. Conditions may be. */
const maxDepth = 24;
/** Members and elements: some hundred people in fifty steps, with conditions, have half as many. */
const maxParts = 4000;
/**
 * Of a definition with more only the first mistake is told. The schema needs 0.2 s to find 3600
 * conditions wrong, and other requests wait for it.
 */
const maxPartsForAll = 1000;

/** What an error is about that has no place. */
const whole = 'input';

type Issue = z.core.$ZodIssue;

const firstProblem: z.core.ParseContextInternal<Issue> = { abortEarly: true };

/** Where it is: a member that is not known is one of what the issue is about. */
const placeOf = (issue: Issue): readonly PropertyKey[] =>
  issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path;

const isThere = (input: unknown, path: readonly PropertyKey[]): boolean => {
  let value = input;
  for (const key of path) {
    if (!Object.hasOwn(Object(value), key)) return false;
    value = Object(value)[key];
  }
  return true;
};

/**
 * Of a union, the alternative that the input fits best: the one whose error lies deepest. A member
 * that is missing tells only when it is the only one that lies so deep: otherwise another
 * alternative may be meant.
 */
const deepest = (input: unknown, issue: Issue, above: readonly PropertyKey[] = []): Issue => {
  const path = [...above, ...issue.path];
  if (issue.code !== 'invalid_union') return { ...issue, path };
  const found = issue.errors
    .flatMap(([first]) => (first === undefined ? [] : [deepest(input, first, path)]))
    .filter((each) => placeOf(each).length > path.length);
  // A member that another alternative has says least.
  const weights = { unrecognized_keys: 0, invalid_type: 1 };
  const weightOf = ({ code }: Issue): number => Object(weights)[code] ?? 2;
  const sorted = found.toSorted(
    (one, other) => placeOf(other).length - placeOf(one).length || weightOf(other) - weightOf(one),
  );
  const given = sorted.find((each) => isThere(input, placeOf(each)));
  const [missing, next] = sorted;
  const isAlone = missing !== undefined && missing.path.length > (next?.path.length ?? 0);
  return given ?? (isAlone ? missing : { ...issue, path });
};

const plainSchema = createDefinitionSchema();
const schemas = new WeakMap<DefinitionAddition, typeof plainSchema>();

const schemaWith = (addition: DefinitionAddition | undefined): typeof plainSchema => {
  if (addition === undefined) return plainSchema;
  const schema = schemas.get(addition) ?? createDefinitionSchema(addition);
  schemas.set(addition, schema);
  return schema;
};

/** A name, and no text of somebody. */
const memberName = /^\w{1,64}$/;

interface SaidIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly code?: string;
}

const saidIssues = (input: unknown, given: Issue): readonly SaidIssue[] => {
  const issue = deepest(input, given);
  const { path, code, message } = issue;
  if (code === 'unrecognized_keys') {
    return issue.keys.every((key) => memberName.test(key))
      ? issue.keys.map((key) => ({ path: [...path, key], message: 'is not known' }))
      : [{ path, code, message }];
  }
  const isOwn = /^(?:must|may|is) /.test(message);
  const isOfType = code === 'invalid_type' && !isOwn;
  return [{ path, message: isOfType ? `must be of type ${issue.expected}` : message }];
};

/**
 * Counts the parts, because the schema would look at too many for too long.
 *
 * @returns The number, or what is wrong with the whole.
 */
const measure = (input: unknown): number | string => {
  let parts = 0;
  const look = (value: unknown, depth: number): string | undefined => {
    if (typeof value !== 'object' || value === null) return undefined;
    if (depth === 0) return 'is nested too deeply';
    const members = Object.values(value);
    // The schema refuses it by its length alone.
    if (Array.isArray(value) && members.length > longestList) return undefined;
    parts += members.length;
    if (parts > maxParts) return 'has too many parts';
    for (const member of members) {
      const found = look(member, depth - 1);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return look(input, maxDepth) ?? parts;
};

/**
 * Checks a definition.
 *
 * @param now Milliseconds since the epoch: a deadline must be later.
 * @param isKnown Whether the service knows a number; digits.
 * @param addition Members of another part.
 */
export const checkDefinition = (
  input: unknown,
  { now, isKnown, addition }: DefinitionContext,
):
  | { readonly ok: true; readonly definition: ProcessDefinition }
  | { readonly ok: false; readonly problem: string } => {
  const size = measure(input);
  if (typeof size === 'string') return { ok: false, problem: `${whole} ${size}` };
  const parsed = schemaWith(addition).safeParse(
    input,
    size > maxPartsForAll ? firstProblem : undefined,
  );
  if (!parsed.success) {
    const issues = parsed.error.issues.flatMap((issue) => saidIssues(input, issue));
    return { ok: false, problem: sayIssues(issues, { whole, values: [input] }) };
  }
  const problems = findProblems(parsed.data, { now, isKnown, addition });
  return problems.length === 0
    ? { ok: true, definition: parsed.data }
    : { ok: false, problem: sayProblems(problems) };
};

/**
 * Whether the service knows the people of a definition. Numbers with phones are asked for in Redis,
 * all at once.
 *
 * @param find Of the subscribers. @returns What is wrong; undefined also for a definition that is
 *   not usable for another reason.
 * @throws When Redis is unreachable.
 */
export const checkNumbers = async (
  input: unknown,
  {
    now,
    find,
    addition,
  }: {
    readonly now: number;
    readonly find: (msisdn: string) => unknown;
    readonly addition?: DefinitionAddition | undefined;
  },
): Promise<string | undefined> => {
  const numbers = new Set<string>();
  const isKnown = (number: string): boolean => numbers.add(number).size > 0;
  if (!checkDefinition(input, { now, isKnown, addition }).ok) return undefined;
  const asked = [...numbers];
  const found = await Promise.all(asked.map(find));
  const unknown = new Set(asked.filter((_, index) => found[index] === undefined));
  if (unknown.size === 0) return undefined;
  const checked = checkDefinition(input, {
    now,
    isKnown: (number) => !unknown.has(number),
    addition,
  });
  return checked.ok ? undefined : checked.problem;
};
