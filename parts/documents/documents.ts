/**
 * Documents: files that people read and sign, of one application each.
 *
 * An upload is received as a draft, checked, kept in the store, and only then gets its record, so
 * that a record always leads to a whole file. When the process dies in between, the file has no
 * record, nobody can have its id, and the sweep removes it.
 */
import type { DocumentCheck } from './check.ts';
import { createQueue } from './queue.ts';
import { type DocumentRecord, type DocumentRecords, newDocumentId } from './records.ts';
import { type ByteRange, type DocumentStore, readWhole, StoreError } from './store/store.ts';

/** What is uploaded: at most 50 MB. */
export const maxDocumentBytes = 50_000_000;
export const maxTitleLength = 200;
const untitled = 'Document';

export interface Upload {
  /** Default: that of the file, or `Document`. */
  readonly title?: string | undefined;
  readonly source: AsyncIterable<Uint8Array>;
}

export type Added =
  | { readonly kind: 'added'; readonly document: DocumentRecord }
  /** The error is a sentence for the application. */
  | { readonly kind: 'unusable'; readonly error: string }
  /** The application has as many bytes as it may. */
  | { readonly kind: 'too-many' };

export interface DocumentsOptions {
  readonly store: DocumentStore;
  readonly records: DocumentRecords;
  readonly check: DocumentCheck['check'];
  /** For how long a document is kept that no process uses. */
  readonly keptMs: number;
  /** The most bytes of one application. */
  readonly maxBytesOfOne: number;
  readonly now: () => number;
}

/** As a title of people is shown: one line, not too long. Undefined where nothing is left. */
const asTitle = (text: string | undefined): string | undefined => {
  const clean = text?.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim();
  // Not through the middle of a pair of UTF-16 units, which no header can be made of.
  return (
    Array.from(clean ?? '')
      .slice(0, maxTitleLength)
      .join('')
      .trim() || undefined
  );
};

export const createDocuments = ({
  store,
  records,
  check,
  keptMs,
  maxBytesOfOne,
  now,
}: DocumentsOptions) => {
  const inTurn = createQueue();

  const isOf = async (apId: string, id: string): Promise<DocumentRecord | undefined> => {
    const found = await records.find(id);
    return found?.apId === apId ? found : undefined;
  };

  return {
    /** @throws StoreError, what the source throws, and when Redis is away. */
    add: async (apId: string, { title, source }: Upload): Promise<Added> => {
      if ((await records.bytesOf(apId)) >= maxBytesOfOne) return { kind: 'too-many' };
      const draft = await store.receive(source);
      try {
        const checked = await inTurn(async () => check(await readWhole(draft.read(), draft.size)));
        if (!checked.ok) return { kind: 'unusable', error: checked.error };
        const id = newDocumentId();
        const { sha256, size } = await draft.keep(id);
        const createdAt = now();
        const document: DocumentRecord = {
          id,
          apId,
          title: asTitle(title) ?? asTitle(checked.about.title) ?? untitled,
          sha256,
          size,
          pages: checked.about.pages,
          createdAt,
          expiresAt: createdAt + keptMs,
        };
        await records.add(document);
        return { kind: 'added', document };
      } finally {
        await draft.drop();
      }
    },

    /** @returns Undefined for one that is unknown, of another application, or kept no longer. */
    find: isOf,

    /** For those who have the right by other means, such as the link of a signer. */
    findAny: (id: string): Promise<DocumentRecord | undefined> => records.find(id),

    /**
     * @param document From `find`.
     * @throws StoreError; `away` for a file that is not in the store, such as when a process does
     *   not share the folder of the others.
     */
    read: async (
      document: DocumentRecord,
      range?: ByteRange,
    ): Promise<AsyncIterable<Uint8Array>> => {
      const bytes = await store.read(document.id, document, range);
      if (bytes === undefined) throw new StoreError('away');
      return bytes;
    },

    /** @returns `used` while a process needs it. */
    remove: async (apId: string, id: string): Promise<'removed' | 'used' | 'unknown'> => {
      if ((await isOf(apId, id)) === undefined) return 'unknown';
      const removal = await records.remove(id);
      // Where this fails, the sweep removes the file.
      if (removal === 'removed') await store.remove(id);
      return removal;
    },

    use: records.use,
    release: records.release,
    noteOpened: records.noteOpened,
    openings: records.openings,
    newest: records.newest,
  };
};

export type Documents = ReturnType<typeof createDocuments>;
