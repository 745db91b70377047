/**
 * Values of labels. Each value is a time series, here and in the memory of the scraper, so
 * strangers must not be able to invent values: what comes from outside is looked up in a fixed
 * list, and anything else is `other`.
 */
export type LabelOf = (value: string | undefined) => string;

/** More application providers than this share one series. */
const maxNamed = 200;

/** The label of what has no name of its own. */
export const other = 'other';

/** @param known The most important first, if there are too many. */
export const createLabel = (known: readonly string[]): LabelOf => {
  const named = new Set(known.slice(0, maxNamed));
  return (value) => (value !== undefined && named.has(value) ? value : other);
};
