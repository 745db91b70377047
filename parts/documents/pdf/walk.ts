/** Looks through what stands directly in a value. */
import { isArray, isDict, isRef, isStream, type PdfValue } from './values.ts';

/** Calls back with the number of each reference. */
export const eachReference = (
  value: PdfValue | undefined,
  visit: (number: number) => void,
): void => {
  if (isRef(value)) visit(value.number);
  else if (isArray(value)) for (const each of value) eachReference(each, visit);
  else if (isDict(value)) for (const each of value.values()) eachReference(each, visit);
  else if (isStream(value)) eachReference(value.dict, visit);
};
