/**
 * What was changed after a revision was signed.
 *
 * Every object whose place in the file is another one than in the signed revision is compared, and
 * must have a reason to differ: a signature that was added, or the security store. Everything else
 * is told. This finds shadow attacks when they are carried out: hide (an object is taken away or
 * put aside), replace (an object gets another content), and hide-and-replace (an object number leads
 * to another body that was in the signed file all the time). An object that is new must not be one
 * that the signed revision refers to and lacks.
 *
 * Not found: what a reader shows differently without any change, such as layers that are switched
 * by hand. Values of forms count as changes.
 *
 * Source: Mainka and others, "Shadow Attacks" (NDSS 2021); Rohlmann and others, "Breaking the
 * Specification: PDF Certification" (S&P 2021), of which comes the limit of a picture's size.
 */
import { findForbidden } from './actions.ts';
import { places } from './cross-reference.ts';
import { catalogOf, type PdfDocument } from './document.ts';
import { isEqualValue } from './equal.ts';
import { fieldsOf, formOf } from './fields.ts';
import { pagesOf } from './pages.ts';
import { endsWithSave, findUnnamed } from './repairs.ts';
import { findShown } from './shown.ts';
import {
  isArray,
  isDict,
  isRef,
  isStream,
  nameOf,
  type PdfArray,
  type PdfDict,
  PdfError,
  type PdfRef,
  type PdfValue,
} from './values.ts';
import { eachReference } from './walk.ts';

export interface Comparison {
  /** What a signature allows: further signatures, the security store, what is not shown. */
  readonly allowed: readonly string[];
  /** Everything else, each in a sentence. */
  readonly changes: readonly string[];
}

const maxChanged = 100_000;

/** Numbers of the objects whose place differs. */
const movedObjects = (before: PdfDocument, after: PdfDocument): readonly number[] => {
  const [old, now] = [before.references, after.references];
  const isSamePlace = (number: number): boolean =>
    old.kinds[number] === now.kinds[number] &&
    (old.where[number] ?? 0) === (now.where[number] ?? 0) &&
    (old.extra[number] ?? 0) === (now.extra[number] ?? 0);
  const moved: number[] = [];
  for (let number = 0; number < Math.max(old.size, now.size); number += 1) {
    const kind = now.kinds[number] ?? places.missing;
    const isSame =
      isSamePlace(number) && (kind !== places.inStream || isSamePlace(now.where[number] ?? 0));
    const isNothing = kind < places.inFile && (old.kinds[number] ?? places.missing) < places.inFile;
    if (!isSame && !isNothing) moved.push(number);
    if (moved.length > maxChanged)
      throw new PdfError('More was changed after the signature than can be compared.');
  }
  return moved;
};

const keysThatDiffer = (before: PdfDict, after: PdfDict): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => !isEqualValue(before.get(key) ?? null, after.get(key) ?? null),
  );

/** What of a list was added, when all that it had before is there in the same order. */
const addedTo = (before: PdfArray, after: PdfArray): PdfArray | undefined => {
  let next = 0;
  const added: PdfValue[] = [];
  for (const each of after) {
    const expected = before[next];
    if (expected !== undefined && isEqualValue(expected, each)) next += 1;
    else added.push(each);
  }
  return next === before.length ? added : undefined;
};

/** Numbers that the revision refers to, of those given. */
const referredTo = (document: PdfDocument, numbers: ReadonlySet<number>): ReadonlySet<number> => {
  const found = new Set<number>();
  const note = (number: number): void => {
    if (numbers.has(number)) found.add(number);
  };
  eachReference(document.trailer, note);
  const { kinds, size } = document.references;
  for (let number = 0; number < size; number += 1) {
    if ((kinds[number] ?? 0) < places.inFile) continue;
    try {
      eachReference(document.object(number), note);
    } catch (error) {
      if (!(error instanceof PdfError)) throw error;
    }
  }
  return found;
};

const numberOf = (value: PdfValue | undefined): number | undefined =>
  isRef(value) ? value.number : undefined;

/** Undefined for what is no rectangle. Its numbers may be objects of their own. */
const areaOf = (document: PdfDocument, value: PdfValue | undefined): number | undefined => {
  const list = document.resolve(value);
  const [a, b, c, d] = isArray(list) ? list.map((each) => document.resolve(each)) : [];
  return typeof a === 'number' &&
    typeof b === 'number' &&
    typeof c === 'number' &&
    typeof d === 'number'
    ? Math.abs((c - a) * (d - b))
    : undefined;
};

/** The part of a page that a later signature may cover with its picture. */
const maxCoveredPart = 0.25;

/** What a field for a signature gets when it is signed. */
const filledKeys: ReadonlySet<string> = new Set(['V', 'AP', 'M']);

/** What the comparison works with, and where it writes down what it finds. */
const createComparison = (before: PdfDocument, after: PdfDocument) => {
  const allowed = new Set<string>();
  const changes = new Set<string>();
  const oldFields = new Map(fieldsOf(before).map((field) => [field.reference?.number, field]));
  const newFields = new Map(fieldsOf(after).map((field) => [field.reference?.number, field]));

  /** One that is signed, too: the picture of an empty one would be anybody's. */
  const isNewSignatureField = (value: PdfValue): value is PdfRef => {
    if (!isRef(value) || oldFields.has(value.number)) return false;
    const field = newFields.get(value.number);
    return (
      before.object(value.number) === null &&
      field?.type === 'Sig' &&
      after.dictOf(field.dict.get('V')) !== undefined
    );
  };

  const compareFieldList = (old: PdfValue, now: PdfValue): void => {
    const added = addedTo(isArray(old) ? old : [], isArray(now) ? now : []);
    if (added === undefined) changes.add('A field of the form was taken away.');
    for (const each of added ?? []) {
      const field = newFields.get(numberOf(each));
      if (isNewSignatureField(each))
        allowed.add(`The signature field “${field?.name ?? ''}” was added.`);
      else changes.add(`The field “${field?.name ?? ''}” was added to the form.`);
    }
  };

  const compareForm = (old: PdfDict, now: PdfDict): void => {
    for (const key of keysThatDiffer(old, now)) {
      if (key === 'Fields')
        compareFieldList(before.resolve(old.get(key)), after.resolve(now.get(key)));
      else if (key !== 'SigFlags') changes.add(`The form was changed (${key}).`);
    }
  };

  const compareAnnotations = (page: number, box: PdfValue, old: PdfValue, now: PdfValue): void => {
    const added = addedTo(isArray(old) ? old : [], isArray(now) ? now : []);
    if (added === undefined) changes.add(`An annotation of page ${page} was taken away.`);
    for (const each of added ?? []) {
      const area = areaOf(after, after.dictOf(each)?.get('Rect'));
      const most = maxCoveredPart * Math.max(areaOf(before, box) ?? 0, 1);
      if (!isNewSignatureField(each)) changes.add(`An annotation was added to page ${page}.`);
      else if (area === undefined || area > most)
        changes.add(`The picture of a later signature covers much of page ${page}.`);
    }
  };

  const compareCatalog = (old: PdfDict, now: PdfDict): void => {
    for (const key of keysThatDiffer(old, now)) {
      if (key === 'DSS') allowed.add('The security store was changed.');
      else if (key === 'AcroForm')
        compareForm(formOf(before) ?? new Map(), formOf(after) ?? new Map());
      else if (key === 'Metadata') allowed.add('The metadata was changed.');
      else if (key !== 'Extensions') changes.add(`The catalog was changed (${key}).`);
    }
  };

  const compareField = (number: number, old: PdfDict, now: PdfDict): void => {
    const field = oldFields.get(number);
    const keys = keysThatDiffer(old, now);
    const isFilled =
      field?.type === 'Sig' &&
      !old.has('V') &&
      after.dictOf(now.get('V')) !== undefined &&
      keys.every((key) => filledKeys.has(key));
    if (isFilled) allowed.add(`The signature field “${field.name}” was signed.`);
    else changes.add(`The field “${field?.name ?? ''}” was changed (${keys.join(', ')}).`);
  };

  /** Objects of the store, whose content changes nothing that is shown. */
  const storeObjects = new Set<number>();
  const store = catalogOf(before).get('DSS');
  for (const value of [store, before.resolve(store)]) {
    eachReference(value, (number) => storeObjects.add(number));
    if (isDict(value))
      for (const each of value.values())
        eachReference(before.resolve(each), (number) => storeObjects.add(number));
  }

  return {
    allowed,
    changes,
    oldFields,
    storeObjects,
    compareAnnotations,
    compareCatalog,
    compareField,
    compareFieldList,
    compareForm,
  };
};

/** How an object is compared. */
type Role = (old: PdfValue, now: PdfValue) => void;

/** Objects that have parts to play, by their number. One that has several must pass in each. */
type Roles = ReadonlyMap<number, readonly Role[]>;

const rolesOf = (
  before: PdfDocument,
  after: PdfDocument,
  moved: ReadonlySet<number>,
  work: ReturnType<typeof createComparison>,
): Roles => {
  const roles = new Map<number, Role[]>();
  const asDicts =
    (compare: (old: PdfDict, now: PdfDict) => void, what: string) =>
    (old: PdfValue, now: PdfValue): void => {
      if (isDict(old) && isDict(now)) compare(old, now);
      else work.changes.add(`${what} was changed.`);
    };
  const put = (number: number | undefined, role: Role): void => {
    if (number === undefined || !moved.has(number)) return;
    const own = roles.get(number) ?? [];
    own.push(role);
    roles.set(number, own);
  };
  let isShown: ReturnType<typeof findShown> | undefined;
  const putFree = (number: number | undefined, what: string): void => {
    if (number === undefined || !moved.has(number)) return;
    isShown ??= findShown(before);
    if (!isShown(number)) put(number, () => work.allowed.add(`The ${what} was changed.`));
  };
  for (const number of work.storeObjects) putFree(number, 'security store');
  putFree(numberOf(before.trailer.get('Info')), 'document information');
  putFree(numberOf(catalogOf(before).get('Metadata')), 'metadata');
  for (const [number, field] of work.oldFields)
    put(
      number,
      asDicts((old, now) => work.compareField(number ?? 0, old, now), `The field “${field.name}”`),
    );
  let count = 0;
  for (const page of pagesOf(before)) {
    count += 1;
    const shown = count;
    const box = page.inherited('MediaBox');
    const annotations = page.dict.get('Annots');
    put(numberOf(annotations), (old, now) => work.compareAnnotations(shown, box, old, now));
    put(
      page.reference.number,
      asDicts((old, now) => {
        for (const key of keysThatDiffer(old, now)) {
          if (key === 'Annots')
            work.compareAnnotations(
              shown,
              box,
              before.resolve(old.get(key)),
              after.resolve(now.get(key)),
            );
          else work.changes.add(`Page ${shown} was changed (${key}).`);
        }
      }, `Page ${shown}`),
    );
  }
  const form = formOf(before);
  put(numberOf(form?.get('Fields')), (old, now) => work.compareFieldList(old, now));
  put(numberOf(catalogOf(before).get('AcroForm')), asDicts(work.compareForm, 'The form'));
  put(numberOf(before.trailer.get('Root')), asDicts(work.compareCatalog, 'The catalog'));
  return roles;
};

const kindOf = (value: PdfValue): string => {
  const entries = isStream(value) ? value.dict : isDict(value) ? value : undefined;
  const kind = nameOf(entries?.get('Subtype')) ?? nameOf(entries?.get('Type'));
  return kind === undefined ? '' : `, ${kind}`;
};

/** References name it, so that an object with another one is another object. */
const generationOf = ({ references: { kinds, extra } }: PdfDocument, number: number): number =>
  kinds[number] === places.inFile ? (extra[number] ?? 0) : 0;

/**
 * @param before The revision that was signed.
 * @param after  The same file with all that follows it.
 * @throws PdfError When one of them cannot be read that far.
 */
export const compareRevisions = (before: PdfDocument, after: PdfDocument): Comparison => {
  if (before.bytes.length === after.bytes.length) return { allowed: [], changes: [] };
  const work = createComparison(before, after);
  const moved = movedObjects(before, after);
  const roles = rolesOf(before, after, new Set(moved), work);
  const { changes, allowed } = work;
  if (!isEqualValue(before.trailer.get('Root') ?? null, after.trailer.get('Root') ?? null))
    changes.add('The document has another catalog.');
  if (!endsWithSave(after)) changes.add('Something stands behind the last save of the file.');
  if (!isEqualValue(before.trailer.get('Info') ?? null, after.trailer.get('Info') ?? null))
    allowed.add('The document information was changed.');
  for (const number of findUnnamed(before, after))
    changes.add(`Object ${number} was added in a way that only some readers find.`);
  const added = new Set<number>();
  for (const number of moved) {
    const [old, now] = [before.object(number), after.object(number)];
    const forbidden = findForbidden(now);
    if (forbidden !== undefined) changes.add(forbidden);
    if (old === null) {
      if (now !== null) added.add(number);
    } else if (now === null) changes.add(`Object ${number} was taken away${kindOf(old)}.`);
    else if (generationOf(before, number) !== generationOf(after, number))
      changes.add(`Object ${number} was replaced by another of its number${kindOf(old)}.`);
    else if (!isEqualValue(old, now)) {
      const own = roles.get(number);
      if (own === undefined) changes.add(`Object ${number} was changed${kindOf(old)}.`);
      for (const role of own ?? []) role(old, now);
    }
  }
  for (const number of referredTo(before, added))
    changes.add(`Object ${number} was missing when the document was signed, and came later.`);
  return { allowed: [...allowed], changes: [...changes] };
};
