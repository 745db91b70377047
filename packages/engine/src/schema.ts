/** Schemas of inputs and events, of any library that implements Standard Schema. */

interface Issue {
  readonly message: string;
  readonly path?: readonly unknown[] | undefined;
}

type Result<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** https://standardschema.dev: zod, valibot, arktype and others. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Result<Output> | Promise<Result<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** A value is not what its schema says. `issues` have the places; the message names none of them. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  override readonly message = 'The value is not what its schema says';
  readonly issues: readonly Issue[];
  constructor(issues: readonly Issue[]) {
    super();
    this.issues = issues;
  }
}

export type Checked<Value> =
  | { readonly success: true; readonly data: Value; readonly error?: undefined }
  | { readonly success: false; readonly error: SchemaError };

/** @throws TypeError for a schema that answers later: a turn does not wait for it. */
export const checkBy = <Output>(schema: StandardSchema<Output>, value: unknown): Checked<Output> => {
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) throw new TypeError('A schema of the engine must answer at once');
  return result.issues === undefined
    ? { success: true, data: result.value }
    : { success: false, error: new SchemaError(result.issues) };
};

export interface AnyEvent {
  readonly type: string;
}

const refuse = (path: readonly string[], message: string): Checked<AnyEvent> => ({
  success: false,
  error: new SchemaError([{ path, message }]),
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
  if (typeof data !== 'object' || data === null) return refuse([], 'must be an object');
  if (typeof data.type !== 'string' || data.type === '') return refuse(['type'], 'must be a text');
  if (data.type.startsWith('xstate.')) return refuse(['type'], 'must not begin with xstate.');
  return { success: true, data };
};
