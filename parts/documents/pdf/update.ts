/**
 * Writes an incremental update: new objects behind a file, whose bytes stay as they are.
 *
 * The new section has the form of the newest one that is there. Readers of PDF 1.4 know no streams,
 * and a table after a stream is forbidden (7.5.8.4), so a table is followed by a table, also in a
 * hybrid file, and a stream by a stream.
 *
 * Source: ISO 32000-2 sections 7.5.6 and 7.5.8.
 */
import { createHash } from 'node:crypto';
import type { PdfDocument } from './document.ts';
import { writeDict, writeValue } from './serialize.ts';
import {
  byteString,
  dict,
  isArray,
  isDict,
  isRef,
  isStream,
  isString,
  name,
  type PdfDict,
  PdfError,
  type PdfRef,
  type PdfValue,
  ref,
} from './values.ts';

interface Written {
  readonly number: number;
  readonly generation: number;
  readonly at: number;
}

export interface Update {
  /** Adds an object. @returns Its reference, which no other object has. */
  add(value: PdfValue): PdfRef;
  /** A reference for an object that {@link Update.set} gives later. */
  reserve(): PdfRef;
  /** Puts another value in the place of an object. */
  set(reference: PdfRef, value: PdfValue): void;
  /** Puts an object whose bytes the caller has written. */
  setWritten(reference: PdfRef, bytes: Uint8Array): void;
  /** The value that an object will have, changed or not. */
  valueOf(value: PdfValue | undefined): PdfValue;
  /** The file with its update. `offsetOf` says where an object begins in it. */
  finish(): { readonly bytes: Buffer; offsetOf(reference: PdfRef): number };
}

const bodyOf = (value: PdfValue): readonly Uint8Array[] => {
  if (!isStream(value)) return [Buffer.from(writeValue(value), 'latin1')];
  const entries = new Map(value.dict).set('Length', value.raw.length);
  return [
    Buffer.from(`${writeDict(entries)}\nstream\n`, 'latin1'),
    value.raw,
    Buffer.from('\nendstream', 'latin1'),
  ];
};

/** Runs of numbers that follow each other, as both forms of a section want them. */
const runsOf = (written: readonly Written[]): readonly (readonly Written[])[] => {
  const runs: Written[][] = [];
  for (const each of written) {
    const run = runs.at(-1);
    if (run?.at(-1)?.number === each.number - 1) run?.push(each);
    else runs.push([each]);
  }
  return runs;
};

const digits = (value: number, count: number): string => String(value).padStart(count, '0');

const writeTable = (written: readonly Written[], trailer: PdfDict): string => {
  const runs = runsOf(written).map(
    (run) =>
      `${run[0]?.number ?? 0} ${run.length}\n${run
        .map(({ at, generation }) => `${digits(at, 10)} ${digits(generation, 5)} n\r\n`)
        .join('')}`,
  );
  return `xref\n${runs.join('')}trailer\n${writeDict(trailer)}\n`;
};

const streamData = (written: readonly Written[]): Buffer => {
  const data = Buffer.alloc(written.length * 7);
  for (const [index, { at, generation }] of written.entries()) {
    data[index * 7] = 1;
    data.writeUInt32BE(at, index * 7 + 1);
    data.writeUInt16BE(generation, index * 7 + 5);
  }
  return data;
};

/** Keeps the first half, which names the document; the second names this state of it (14.4). */
const nextId = (before: PdfValue, objects: readonly Uint8Array[]): PdfValue => {
  const hash = createHash('md5');
  for (const each of objects) hash.update(each);
  const second = byteString(hash.digest());
  const first = isArray(before) ? before[0] : undefined;
  return [isString(first) ? byteString(first.bytes) : second, second];
};

/** Keys of a trailer that go on; all others say how a section is written. */
const keptInTrailer = ['Root', 'Info'] as const;

export const createUpdate = (document: PdfDocument): Update => {
  const { bytes, references, trailer } = document;
  const [newest] = references.sections;
  const sizes = references.sections.map((section) => section.trailer.get('Size'));
  let next = Math.max(
    references.size,
    ...sizes.map((size) => (typeof size === 'number' && size < 8_388_607 ? size : 0)),
  );
  const changed = new Map<
    number,
    { reference: PdfRef; parts: readonly Uint8Array[]; value?: PdfValue }
  >();
  const reserve = (): PdfRef => {
    const reference = ref(next);
    next += 1;
    return reference;
  };
  const set = (reference: PdfRef, value: PdfValue): void => {
    changed.set(reference.number, { reference, parts: bodyOf(value), value });
  };

  return {
    reserve,
    set,
    add: (value) => {
      const reference = reserve();
      set(reference, value);
      return reference;
    },
    setWritten: (reference, written) => {
      changed.set(reference.number, { reference, parts: [written] });
    },
    valueOf: (value) => {
      const mine = isRef(value) ? changed.get(value.number)?.value : undefined;
      return mine ?? document.resolve(value);
    },
    finish: () => {
      const last = bytes[bytes.length - 1];
      const parts: Uint8Array[] = [];
      let at = bytes.length;
      const push = (part: Uint8Array | string): void => {
        const added = typeof part === 'string' ? Buffer.from(part, 'latin1') : part;
        parts.push(added);
        at += added.length;
      };
      if (last !== 10 && last !== 13) push('\n');
      const written: Written[] = [];
      const ordered = [...changed.values()].toSorted(
        (one, other) => one.reference.number - other.reference.number,
      );
      for (const { reference, parts: body } of ordered) {
        written.push({ ...reference, at });
        push(`${reference.number} ${reference.generation} obj\n`);
        for (const part of body) push(part);
        push('\nendobj\n');
      }
      const start = at;
      const own = newest.kind === 'stream' ? reserve() : undefined;
      const kept = keptInTrailer.map((key) => [key, trailer.get(key)] as const);
      const common = dict({
        Size: next,
        ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)),
        ID: nextId(document.resolve(trailer.get('ID')), parts),
        Prev: newest.at,
      });
      if (own === undefined) push(writeTable(written, common));
      else {
        const all = [...written, { ...own, at: start }];
        const index = runsOf(all).flatMap((run) => [run[0]?.number ?? 0, run.length]);
        push(`${own.number} ${own.generation} obj\n`);
        const streamDict = new Map(common)
          .set('Type', name('XRef'))
          .set('W', [1, 4, 2])
          .set('Index', index);
        for (const part of bodyOf({ kind: 'stream', dict: streamDict, raw: streamData(all) }))
          push(part);
        push('\nendobj\n');
      }
      push(`startxref\n${start}\n%%EOF\n`);
      const whole = Buffer.allocUnsafe(at);
      whole.set(bytes);
      let to = bytes.length;
      for (const part of parts) {
        whole.set(part, to);
        to += part.length;
      }
      return {
        bytes: whole,
        offsetOf: ({ number }) => written.find((each) => each.number === number)?.at ?? 0,
      };
    },
  };
};

/** Changes entries of an object that is a dictionary. */
export const withEntries = (
  value: PdfValue,
  entries: Readonly<Record<string, PdfValue>>,
): PdfDict => new Map([...(isDict(value) ? value : []), ...Object.entries(entries)]);

/** Changes entries of the catalog. @throws PdfError When it is no object of its own. */
export const setInCatalog = (
  document: PdfDocument,
  update: Update,
  entries: Readonly<Record<string, PdfValue>>,
): void => {
  const root = document.trailer.get('Root');
  if (!isRef(root)) throw new PdfError('The file is broken: it has no catalog.');
  update.set(root, withEntries(update.valueOf(root), entries));
};
