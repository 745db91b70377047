/** Compares values as they are written, without following references. */
import { isArray, isDict, isStream, type PdfDict, type PdfValue } from './values.ts';

const isEqualDict = (one: PdfDict, other: PdfDict): boolean =>
  one.size === other.size &&
  [...one].every(([key, value]) => other.has(key) && isEqualValue(value, other.get(key) ?? null));

export const isEqualValue = (one: PdfValue, other: PdfValue): boolean => {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return false;
  if (isArray(one) || isArray(other))
    return (
      isArray(one) &&
      isArray(other) &&
      one.length === other.length &&
      one.every((each, index) => isEqualValue(each, other[index] ?? null))
    );
  if (isDict(one) || isDict(other)) return isDict(one) && isDict(other) && isEqualDict(one, other);
  if (isStream(one))
    return (
      isStream(other) &&
      isEqualDict(one.dict, other.dict) &&
      Buffer.compare(one.raw, other.raw) === 0
    );
  if (one.kind === 'name') return other.kind === 'name' && one.name === other.name;
  if (one.kind === 'ref')
    return (
      other.kind === 'ref' && one.number === other.number && one.generation === other.generation
    );
  return other.kind === 'string' && Buffer.compare(one.bytes, other.bytes) === 0;
};
