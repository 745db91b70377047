/**
 * Writes the values of a chart as JSON, and reads them back.
 *
 * Kept exactly: plain objects and arrays, strings, numbers with NaN and the infinities, booleans,
 * null, bigints, Date, Map, Set, Error with its own members and `cause`, and refs of actors of the
 * same instance. The ref of an actor that is gone becomes that of a stopped actor with its id. A
 * snapshot of a chart keeps its data, `matches` and `hasTag`. Members that are undefined are left
 * out. Refused, with their path: functions, symbols, instances of other classes, cycles, live
 * actors of other systems.
 *
 * A value that is plain JSON already is not copied.
 */
import { matchesState, type StateValue } from 'xstate';

const mark = 'xstate$$type';
/** Levels of a value. A deeper value is taken for a cycle. */
const maxDepth = 500;

/** A value cannot be stored. The error has its path, and never the value. */
class UnstorableError extends Error {
  override readonly name = 'UnstorableError';
  readonly path: string;
  constructor(path: string, what: string) {
    super(`${path}: ${what} cannot be stored`);
    this.path = path;
  }
}

/** Whether it is an {@link UnstorableError}, also one of another copy of this package. */
export const isUnstorable = (error: unknown): error is UnstorableError =>
  error instanceof Error && error.name === 'UnstorableError';

type Code = readonly [tag: string, value: unknown];

/** The name of an actor in the record of its instance. */
export interface ActorName {
  readonly session: number;
  readonly id: string;
}
/** Returns undefined for a value that is not a ref of the same instance. */
export type ActorIn = (value: object) => ActorName | undefined;
export type RefOf = (actor: ActorName) => unknown;

const numberTags = new Map<number, string>([
  [Number.POSITIVE_INFINITY, 'Infinity'],
  [Number.NEGATIVE_INFINITY, '-Infinity'],
]);

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  // The prototype of objects of another realm has no prototype either.
  return (
    prototype === Object.prototype ||
    prototype === null ||
    Object.getPrototypeOf(prototype) === null
  );
};

/** The mark for an object that is neither plain nor an array; undefined for one without a mark. */
const codeOf = (value: object, actorIn: ActorIn): Code | undefined => {
  const actor = actorIn(value);
  if (actor !== undefined) return ['actor', actor];
  if (isSnapshot(value)) {
    const { status, value: state, context, output, error, children, tags } = value;
    return [
      'snapshot',
      { status, value: state, context, output, error, children, tags: [...tags] },
    ];
  }
  if (value instanceof Date) return ['Date', value.getTime()];
  if (value instanceof Map) return ['Map', [...value]];
  if (value instanceof Set) return ['Set', [...value]];
  if (value instanceof Error) {
    const { name, message, cause, errors } = value as Error & { readonly errors?: unknown };
    const hidden = {
      name,
      message,
      ...(cause !== undefined && { cause }),
      ...(errors !== undefined && { errors }),
    };
    return ['Error', { ...value, ...hidden }];
  }
  return undefined;
};

interface Snapshot {
  readonly status: string;
  readonly value: StateValue;
  readonly context: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly children: object;
  readonly tags: ReadonlySet<string>;
}

/** Whether a value is a snapshot of a machine. It holds the machine, which is not stored. */
const isSnapshot = (value: object): value is Snapshot =>
  'machine' in value && 'getMeta' in value && '_nodes' in value;

const snapshotFrom = (
  kept: Omit<Snapshot, 'tags'> & { readonly tags: readonly string[] },
): object => {
  const tags = new Set(kept.tags);
  const methods = {
    matches: { value: (state: StateValue) => matchesState(state, kept.value) },
    hasTag: { value: (tag: string) => tags.has(tag) },
    toJSON: { value: () => ({ ...kept, historyValue: {} }) },
  };
  return Object.defineProperties({ ...kept, tags, historyValue: {} }, methods);
};

/** Says why a value cannot be stored. Its path is computed afterwards, because that is slow. */
class Unstorable {
  readonly what: string;
  constructor(what: string) {
    this.what = what;
  }
}

const walk = (part: unknown, actorIn: ActorIn, depth: number): unknown => {
  switch (typeof part) {
    case 'number':
      return Number.isFinite(part)
        ? part
        : { [mark]: 'number', value: numberTags.get(part) ?? 'NaN' };
    case 'bigint':
      return { [mark]: 'bigint', value: String(part) };
    case 'function':
    case 'symbol':
      throw new Unstorable(`a ${typeof part}`);
    case 'object':
      break;
    default:
      return part;
  }
  if (part === null) return part;
  if (depth > maxDepth) throw new Unstorable('a cycle');
  if (Array.isArray(part)) {
    let copy: unknown[] | undefined;
    for (let index = 0; index < part.length; index += 1) {
      const each: unknown = part[index];
      const next = each === undefined ? { [mark]: 'undefined' } : walk(each, actorIn, depth + 1);
      if (next === each) continue;
      copy ??= [...(part as unknown[])];
      copy[index] = next;
    }
    return copy ?? part;
  }
  const source = part as Record<string, unknown>;
  if (!isPlain(part) || 'sessionId' in part || 'machine' in part) {
    const code = codeOf(part, actorIn);
    if (code !== undefined) return { [mark]: code[0], value: walk(code[1], actorIn, depth + 1) };
    if (!isPlain(part))
      throw new Unstorable(`an instance of ${part.constructor?.name || 'a class'}`);
  }
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(source)) {
    const each = source[key];
    if (typeof each === 'string' || typeof each === 'boolean' || each === undefined) continue;
    const next = walk(each, actorIn, depth + 1);
    if (next === each) continue;
    copy ??= { ...source };
    copy[key] = next;
  }
  if (mark in source) throw new Unstorable(`a member ${mark}`);
  return copy ?? source;
};

/** The path of the innermost part that cannot be stored. */
const placeOf = (value: unknown, path: string, actorIn: ActorIn, depth = 0): string => {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return path;
  const isOpen = Array.isArray(value) || isPlain(value) || value instanceof Error;
  if (!isOpen) return path;
  for (const [key, part] of Object.entries(value)) {
    try {
      walk(part, actorIn, depth + 1);
    } catch {
      const place = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`;
      return depth > 20 ? place : placeOf(part, place, actorIn, depth + 1);
    }
  }
  return path;
};

/** @throws UnstorableError */
export const encode = (value: unknown, path: string, actorIn: ActorIn): unknown => {
  try {
    return walk(value, actorIn, 0);
  } catch (error) {
    if (error instanceof Unstorable)
      throw new UnstorableError(placeOf(value, path, actorIn), error.what);
    throw error;
  }
};

const noActor = (): undefined => undefined;

/**
 * Writes an input as the data of a job. An undefined input gets a mark, because BullMQ would store
 * an empty object.
 *
 * @throws UnstorableError
 */
export const encodeInput = (input: unknown): unknown =>
  input === undefined ? { [mark]: 'undefined' } : encode(input, 'input', noActor);

const numbers: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
};

const errorKinds: Readonly<Record<string, ErrorConstructor>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

/** Makes an error of the same class if JavaScript has it; otherwise an `Error` with its name. */
const errorFrom = ({ name, message, cause, ...others }: Record<string, unknown>): Error => {
  const Kind = (Object.hasOwn(errorKinds, String(name)) && errorKinds[String(name)]) || Error;
  const error = new Kind(String(message), cause === undefined ? undefined : { cause });
  if (error.name !== name)
    Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
  return Object.assign(error, others);
};

const revive = (tag: unknown, content: unknown, refOf: RefOf, depth: number): unknown => {
  const inner = decode(content, refOf, depth + 1);
  switch (tag) {
    case 'actor':
      return refOf(inner as ActorName);
    case 'snapshot':
      return snapshotFrom(inner as Parameters<typeof snapshotFrom>[0]);
    case 'Date':
      return new Date(inner as number);
    case 'Map':
      return new Map(inner as [unknown, unknown][]);
    case 'Set':
      return new Set(inner as unknown[]);
    case 'Error':
      return errorFrom(inner as Record<string, unknown>);
    case 'number':
      return numbers[String(inner)];
    case 'bigint':
      return BigInt(String(inner));
    default:
      return undefined;
  }
};

/** The reverse of {@link encode}. Parts deeper than `encode` writes are left as they are. */
export const decode = (value: unknown, refOf: RefOf, depth = 0): unknown => {
  if (depth > maxDepth + 1) return value;
  if (typeof value !== 'object' || value === null) return value;
  if (mark in value)
    return revive(value[mark], (value as { readonly value?: unknown }).value, refOf, depth);
  let copy: Record<string, unknown> | unknown[] | undefined;
  for (const key of Object.keys(value)) {
    const part = (value as Record<string, unknown>)[key];
    if (typeof part !== 'object') continue;
    const next = decode(part, refOf, depth + 1);
    if (next === part) continue;
    copy ??= Array.isArray(value) ? [...(value as unknown[])] : { ...value };
    (copy as Record<string, unknown>)[key] = next;
  }
  return copy ?? value;
};
