/**
 * What is wrong with a value, in the words of its schema: each place with what is expected there,
 * never the value. Zod's own words name types, bounds and choices of the schema. The words of a
 * chart's author may quote the value, so those that hold it are replaced.
 */

/** An issue in the form of zod and other Standard Schema libraries. */
export interface Issue {
  readonly path?: readonly unknown[] | undefined;
  readonly message: string;
  readonly code?: unknown;
  /** The expected type, from zod; `values` has the expected values instead. */
  readonly expected?: unknown;
  readonly values?: unknown;
  /** The issues of each form of a union, from zod. */
  readonly errors?: unknown;
}

const maxIssues = 10;
/** Length from which a value counts as quoted. Shorter ones occur in most texts by chance. */
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
 * Replaces the issue of a union by those of the form that the value has, or of the one that fits
 * best: what is wrong lies inside. For a value of no form all forms are named.
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

/** A path in words: `items[0].name`, `["a name"]`. */
const placeOf = (keys: readonly PropertyKey[]): string =>
  keys.reduce<string>((place, key) => {
    if (typeof key === 'number') return `${place}[${key}]`;
    const name = String(key);
    if (/[^\w$]/.test(name)) return `${place}[${JSON.stringify(name)}]`;
    return place === '' ? name : `${place}.${name}`;
  }, '');

const valueAt = (value: unknown, keys: readonly PropertyKey[]): unknown =>
  keys.reduce<unknown>((at, key) => Reflect.get(Object(at), key), value);

/** Levels that are searched for a quoted value. A deeper value counts as quoted. */
const maxLevels = 500;

const isQuoted = (message: string, value: unknown, level = 0): boolean => {
  if (level > maxLevels) return true;
  if (typeof value === 'object' && value !== null)
    return Object.values(value).some((inner) => isQuoted(message, inner, level + 1));
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  const text = String(value);
  return text.length >= shortestQuote && message.includes(text);
};

/** Joins problems to one line. Names the first ten and counts the others. */
export const sayProblems = (problems: readonly string[]): string => {
  const more = problems.length - maxIssues;
  return [...problems.slice(0, maxIssues), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
};

export interface About {
  /** The name for an issue without a path: `input`. */
  readonly whole: string;
  /** The values that were read, or may have been. Messages that quote them are replaced. */
  readonly values: readonly unknown[];
}

/** Says issues in one line. @param issues The issues of a SchemaError or of an error of zod. */
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
