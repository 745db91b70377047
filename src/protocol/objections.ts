/**
 * From what a schema objects to, to the fault that the wire knows.
 *
 * Schemas say where and what; this file says which code. Three rules, in this order:
 * 1. A required member that is absent, null or an empty string is a fault 102 and its detail is the member's path.
 * 2. A check may name its own code, and a member in the table below has one for any value that is not on its list.
 * 3. Everything else is 101, path first.
 *
 * Of several things that are wrong the first in the order of the schema is reported, whatever its kind; rules between
 * members come after all rules about one. Nothing here ever sees a value, only whether there is one, so no detail can
 * repeat it.
 *
 * Source: interface section 7; TS 102 204 on status codes.
 */
import { z } from 'zod';
import { type Checked, type FaultCode, refuse } from './fault.ts';

/** What a check has against a value. */
export interface Objection {
  readonly code: FaultCode;
  /** Follows the path in the detail: `must be 1 to 300`. */
  readonly words?: string;
  /** The whole detail, for texts that clients know by heart. */
  readonly detail?: string;
  /** Where, below the value that is checked. */
  readonly path?: readonly (string | number)[];
}

/** Raises an objection from within a zod `check`. */
export const objectTo = (payload: z.core.ParsePayload, { code, words, detail, path }: Objection): void => {
  payload.issues.push({
    code: 'custom',
    input: payload.value,
    path: [...(path ?? [])],
    message: words ?? '',
    params: { code, detail },
  });
};

/** Members with a list of values, where a value that is not on it has a code of its own. */
const codeOffTheList: Readonly<Partial<Record<string, FaultCode>>> = {
  MajorVersion: 108,
  MinorVersion: 108,
  MimeType: 107,
  Encoding: 107,
};

type Path = readonly PropertyKey[];

const valueAt = (body: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, step)
        ? (value as Record<PropertyKey, unknown>)[step]
        : undefined,
    body,
  );

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '';

const codeOf = (issue: z.core.$ZodIssue, value: unknown): FaultCode => {
  if (issue.code === 'custom') return (issue.params as Partial<Objection> | undefined)?.code ?? 101;
  const member = issue.path.at(-1);
  return issue.code === 'invalid_value' && typeof value === 'string' && typeof member === 'string'
    ? (codeOffTheList[member] ?? 101)
    : 101;
};

const wordsOf = (issue: z.core.$ZodIssue): string =>
  issue.message === '' && issue.code === 'invalid_type' ? `must be of type ${issue.expected}` : issue.message;

const refusal = (issue: z.core.$ZodIssue, body: unknown): Checked<never> => {
  const path = z.core.toDotPath(issue.path);
  const value = valueAt(body, issue.path);
  if (isAbsent(value)) return refuse(102, path);
  const words = wordsOf(issue);
  const detail =
    issue.code === 'custom' ? (issue.params as Partial<Objection> | undefined)?.detail : undefined;
  return refuse(codeOf(issue, value), detail ?? (words ? `${path} ${words}` : path));
};

// Only a schema's words are for the wire: the library's own may quote what was received.
const wireWordsOnly = { error: () => '' };

/**
 * Checks a body against a schema.
 *
 * @returns What the schema makes of it, or the fault for the first thing wrong. Never throws, whatever the body is.
 */
export const check = <Schema extends z.ZodType>(schema: Schema, body: unknown): Checked<z.output<Schema>> => {
  // Twice as quick without the words, which only a refusal needs.
  const { success, data } = schema.safeParse(body);
  if (success) return { ok: true, value: data };
  const [first] = schema.safeParse(body, wireWordsOnly).error?.issues ?? [];
  return first === undefined ? refuse(101) : refusal(first, body);
};
