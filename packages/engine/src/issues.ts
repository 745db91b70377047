/**
 * What is wrong with a value, in the words of its schema: each place with what is expected there,
 * never the value. Zod's own words name types, bounds and choices of the schema. The words of a
 * chart's author may quote the value, so those that hold it are replaced.
 */

/** As zod and other libraries of Standard Schema give it. */
export interface Issue {
  readonly path?: readonly unknown[] | undefined;
  readonly message: string;
  readonly code?: unknown;
  /** Of zod: the type, or the values, that are expected. */
  readonly expected?: unknown;
  readonly values?: unknown;
  /** Of a union of zod: the issues of each form. */
  readonly errors?: unknown;
}

const maxIssues = 10;
/** A shorter value is found in most texts. */
const shortestQuote = 4;

const isIssue = (value: unknown): value is Issue =>
  typeof (Object(value) as Partial<Issue>).message === 'string';

export const issuesIn = (value: unknown): readonly Issue[] =>
  Array.isArray(value) ? value.filter(isIssue) : [];

const keysOf = ({ path = [] }: Issue): readonly PropertyKey[] =>
  path.map((step) => {
    const key: unknown =
      typeof step === 'object' && step !== null && 'key' in step ? step.key : step;
    return typeof key === 'number' || typeof key === 'symbol' ? key : String(key);
  });

/** What the forms of a union expect in one place. */
const expectedOf = ({ expected, values }: Issue): readonly string[] => {
  if (typeof expected === 'string') return [expected];
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value) ?? '') : [];
};

/**
 * Of a union the form counts that the value has, and of several the one that fits best: what is
 * wrong lies inside. For a value of no form all forms are named.
 */
const flat = (issue: Issue): readonly (Issue & { readonly keys: readonly PropertyKey[] })[] => {
  const keys = keysOf(issue);
  const forms = Array.isArray(issue.errors) ? issue.errors.map(issuesIn) : [];
  if (issue.code !== 'invalid_union' || forms.length === 0) return [{ ...issue, keys }];
  const [best] = forms
    .filter((form) => form.every((inner) => keysOf(inner).length > 0))
    .toSorted((one, other) => one.length - other.length);
  if (best !== undefined)
    return best.flatMap(flat).map((inner) => ({ ...inner, keys: [...keys, ...inner.keys] }));
  const expected = new Set(forms.flat().flatMap(expectedOf));
  const words = expected.size === 0 ? '' : `: expected ${[...expected].join(' | ')}`;
  return [{ ...issue, keys, message: `${issue.message}${words}` }];
};

/** `items[0].name`, `["a name"]` */
const placeOf = (keys: readonly PropertyKey[]): string =>
  keys.reduce<string>((place, key) => {
    if (typeof key === 'number') return `${place}[${key}]`;
    const name = String(key);
    if (/[^\w$]/.test(name)) return `${place}[${JSON.stringify(name)}]`;
    return place === '' ? name : `${place}.${name}`;
  }, '');

const valueAt = (value: unknown, keys: readonly PropertyKey[]): unknown =>
  keys.reduce<unknown>((at, key) => Reflect.get(Object(at), key), value);

/** Below so many levels nobody looks: a message about such a value is told without its words. */
const maxLevels = 500;

const isQuoted = (message: string, value: unknown, level = 0): boolean => {
  if (level > maxLevels) return true;
  if (typeof value === 'object' && value !== null)
    return Object.values(value).some((inner) => isQuoted(message, inner, level + 1));
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  const text = String(value);
  return text.length >= shortestQuote && message.includes(text);
};

/** One line of several problems, of which the first ten are told. */
export const sayProblems = (problems: readonly string[]): string => {
  const more = problems.length - maxIssues;
  return [...problems.slice(0, maxIssues), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
};

export interface About {
  /** What an issue is about that has no place: `input`. */
  readonly whole: string;
  /** What was read, or may have been. */
  readonly values: readonly unknown[];
}

/** @param issues Of an error of zod. */
export const sayIssues = (issues: readonly Issue[], { whole, values }: About): string =>
  sayProblems(
    issues.flatMap(flat).map(({ keys, code, message }) => {
      const place = placeOf(keys) || whole;
      if (code === 'unrecognized_keys') return `${place} has members that are not known here`;
      if (values.some((value) => isQuoted(message, valueAt(value, keys))))
        return `${place} is not what it must be`;
      const words = message.replaceAll(/\s*\n\s*/g, ' ');
      return /^(?:must|may|is) /.test(words) ? `${place} ${words}` : `${place}: ${words}`;
    }),
  );
