/**
 * Values of labels. Each value is a time series, here and in the memory of the scraper, so
 * strangers must not be able to invent values: a value from outside is looked up in a fixed list,
 * and any other value is `other`.
 */
export type LabelOf = (value: string | undefined) => string;

/** Application providers with a series of their own. All others share one. */
const maxNamed = 200;

/** The label of all values that are not in the list. */
export const other = 'other';

/** @param known The known values, the most important first: of too many only the first count. */
export const createLabel = (known: readonly string[]): LabelOf => {
  const named = new Set(known.slice(0, maxNamed));
  return (value) => (value !== undefined && named.has(value) ? value : other);
};
