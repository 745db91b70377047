/** Writes values in PDF syntax (ISO 32000-2 section 7.3). */
import { isArray, isDict, type PdfDict, type PdfValue } from './values.ts';

const writeName = (text: string): string =>
  `/${text.replace(/[^!"$&'*+,\-.0-9:;=?@A-Z\\^_`a-z|~]/g, (character) => `#${character.charCodeAt(0).toString(16).padStart(2, '0')}`)}`;

const writeNumber = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toFixed(5).replace(/\.?0+$/, '');

const writeString = (bytes: Uint8Array): string =>
  bytes.every(
    (byte) => byte >= 0x20 && byte < 0x7f && byte !== 0x28 && byte !== 0x29 && byte !== 0x5c,
  )
    ? `(${Buffer.from(bytes).toString('latin1')})`
    : `<${Buffer.from(bytes).toString('hex')}>`;

export const writeDict = (entries: PdfDict): string =>
  `<<${[...entries].map(([key, value]) => `${writeName(key)} ${writeValue(value)}`).join('\n')}>>`;

/** @returns One byte for each character. @throws For a stream, which has a place of its own. */
export const writeValue = (value: PdfValue): string => {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return writeNumber(value);
  if (isArray(value)) return `[${value.map(writeValue).join(' ')}]`;
  if (isDict(value)) return writeDict(value);
  if (value.kind === 'name') return writeName(value.name);
  if (value.kind === 'ref') return `${value.number} ${value.generation} R`;
  if (value.kind === 'string') return writeString(value.bytes);
  throw new Error('a stream is an object of its own');
};
