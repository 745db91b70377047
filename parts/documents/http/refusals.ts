/** How requests about documents are refused. */
import { invalid, type Refusal } from '../../../src/http/application-refusals.ts';
import { StoreError, type StoreTrouble } from '../store/store.ts';
import { UploadError, type UploadTrouble } from './upload.ts';

export const unknown: Refusal = [404, 'not-found', 'There is no such document', 101];
export const inUse: Refusal = [
  409,
  'in-use',
  'A process needs this document: it goes when the process does',
  101,
];
export const notPdf: Refusal = [
  415,
  'unsupported',
  'Content-Type must be application/pdf, without Content-Encoding',
  101,
];
export const noRange: Refusal = [416, 'bad-range', 'Range is outside of the document', 101];
export const tooManyBytes: Refusal = [
  507,
  'too-many',
  'The documents of the application take as much room as they may: delete some, or wait until they expire',
  900,
];
export const tooManyUploads: Refusal = [
  503,
  'busy',
  'Too many uploads are under way: send it again later',
  900,
];

const uploads: Readonly<Record<UploadTrouble, Refusal>> = {
  'too-large': [413, 'too-large', 'A document is limited to 50 MB (50 000 000 bytes)', 103],
  'too-slow': [408, 'too-slow', 'The document did not arrive in time', 101],
  incomplete: invalid('The document is incomplete: less came than was announced'),
};

const stores: Readonly<Record<StoreTrouble, Refusal>> = {
  full: [507, 'full', 'The store of documents is full: nothing was kept', 900],
  away: [503, 'unavailable', 'The store of documents cannot be reached: send it again later', 900],
  damaged: [500, 'damaged', 'The document is damaged in the store, and is not served', 900],
};

/** @returns Undefined for an error that is neither of the upload nor of the store. */
export const refusalOf = (error: unknown): Refusal | undefined => {
  if (error instanceof UploadError) return uploads[error.trouble];
  if (error instanceof StoreError) return stores[error.trouble];
  return undefined;
};
