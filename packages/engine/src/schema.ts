/** Schemas of inputs and events, of any library that implements Standard Schema. */
import { type Issue, sayIssues } from './issues.ts';

type Result<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** A schema of zod, valibot, arktype or another library (https://standardschema.dev). */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Result<Output> | Promise<Result<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/**
 * A value is not what its schema says. The message is one line with each place and what is expected
 * there, never the value; `issues` are those of the schema.
 */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  readonly issues: readonly Issue[];
  constructor(issues: readonly Issue[], value: unknown) {
    super(sayIssues(issues, { whole: 'the value', values: [value] }));
    this.issues = issues;
  }
}

export type Checked<Value> =
  | { readonly success: true; readonly data: Value; readonly error?: undefined }
  | { readonly success: false; readonly error: SchemaError };

/** @throws TypeError for a schema that answers later: a turn does not wait for it. */
export const checkBy = <Output>(
  schema: StandardSchema<Output>,
  value: unknown,
): Checked<Output> => {
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) throw new TypeError('A schema of the engine must answer at once');
  return result.issues === undefined
    ? { success: true, data: result.value }
    : { success: false, error: new SchemaError(result.issues, value) };
};

export interface AnyEvent {
  readonly type: string;
}

const refuse = (event: unknown, path: readonly string[], message: string): Checked<AnyEvent> => ({
  success: false,
  error: new SchemaError([{ path, message }], event),
});

/**
 * Checks an event from outside. XState's own events would end activities and fire timers.
 *
 * @param schema Default: any event.
 */
export const checkEvent = (
  schema: StandardSchema<AnyEvent> | undefined,
  event: unknown,
): Checked<AnyEvent> => {
  const checked = schema === undefined ? undefined : checkBy(schema, event);
  if (checked?.success === false) return checked;
  const data = checked?.data ?? (event as AnyEvent);
  if (typeof data !== 'object' || data === null) return refuse(data, [], 'must be an object');
  if (typeof data.type !== 'string' || data.type === '')
    return refuse(data, ['type'], 'must be a text');
  if (data.type.startsWith('xstate.')) return refuse(data, ['type'], 'must not begin with xstate.');
  return { success: true, data };
};
