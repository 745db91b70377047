/**
 * Makes faults from schema errors. Schemas give the place and the words; this file gives the code:
 * 1. A required member that is absent, null or empty is fault 102, and its detail is the path.
 * 2. A check may name its own code, and the members in the table below have one of their own.
 * 3. Every other error is 101, with the path first.
 *
 * The first of several errors in the order of the schema is reported. Rules between members come
 * after those about one. Details never repeat a value, because no value is passed on.
 *
 * Source: interface section 7; TS 102 204 on status codes.
 */
import { z } from 'zod';
import { type Checked, type FaultCode, refuse } from './fault.ts';

/** The error of a check. */
export interface SchemaError {
  readonly code: FaultCode;
  /** Words that follow the path in the detail: `must be 1 to 300`. */
  readonly words?: string;
  /** The whole detail, for texts that clients depend on. */
  readonly detail?: string;
  /** The path of the error below the checked value. */
  readonly path?: readonly (string | number)[];
}

/** Reports an error from within a zod `check`. */
export const reportError = (
  payload: z.core.ParsePayload,
  { code, words, detail, path }: SchemaError,
): void => {
  payload.issues.push({
    code: 'custom',
    input: payload.value,
    path: [...(path ?? [])],
    message: words ?? '',
    params: { code, detail },
  });
};

/** Members with a list of allowed values, and the code for any other value. */
const codeOffTheList: Readonly<Partial<Record<string, FaultCode>>> = {
  MajorVersion: 108,
  MinorVersion: 108,
  SignatureProfile: 109,
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
  if (issue.code === 'custom')
    return (issue.params as Partial<SchemaError> | undefined)?.code ?? 101;
  const member = issue.path.at(-1);
  return issue.code === 'invalid_value' && typeof value === 'string' && typeof member === 'string'
    ? (codeOffTheList[member] ?? 101)
    : 101;
};

const wordsOf = (issue: z.core.$ZodIssue, value: unknown): string => {
  // For a list of values the words of the schema name the allowed texts, and not the type.
  if (issue.code === 'invalid_value' && typeof value !== 'string') return 'must be of type string';
  return issue.message === '' && issue.code === 'invalid_type'
    ? `must be of type ${issue.expected}`
    : issue.message;
};

const refusal = (issue: z.core.$ZodIssue, body: unknown): Checked<never> => {
  const path = z.core.toDotPath(issue.path);
  const value = valueAt(body, issue.path);
  if (isAbsent(value)) return refuse(102, path);
  const words = wordsOf(issue, value);
  const detail =
    issue.code === 'custom'
      ? (issue.params as Partial<SchemaError> | undefined)?.detail
      : undefined;
  return refuse(codeOf(issue, value), detail ?? (words ? `${path} ${words}` : path));
};

// Only our own words may be sent: those of the library may quote the value.
const wireWordsOnly = { error: () => '' };

/**
 * Checks a body against a schema.
 *
 * @returns The output of the schema, or the fault for the first error. Never throws.
 */
export const check = <Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): Checked<z.output<Schema>> => {
  // Without the words, which only a refusal needs, the check is twice as fast.
  const { success, data } = schema.safeParse(body);
  if (success) return { ok: true, value: data };
  const [first] = schema.safeParse(body, wireWordsOnly).error?.issues ?? [];
  return first === undefined ? refuse(101) : refusal(first, body);
};
