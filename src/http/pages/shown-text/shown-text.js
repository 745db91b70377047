/**
 * How a text of somebody else is shown: to the person who signs it, to operators, and in mails. The
 * phone's page loads this file as it is, so that no two places show one text differently.
 *
 * The text that is signed must be the text that is seen. Therefore:
 *
 * 1. What nobody sees is shown by its name, `[U+00AD]`: control and format characters but the
 *    newline, all that Unicode lets programs leave out (tags, variation selectors, fillers),
 *    private and unassigned characters, and the few symbols that are blank.
 * 2. Accents and vowel signs belong to letters, so a combining mark on anything else is named,
 *    above all on digits. So are marks that strike a letter out or enclose it. A letter has at most
 *    five marks, three of them of no script of their own; more would cover the lines around it.
 *    Vietnamese and Thai need two, Devanagari and Greek three, Burmese and Hebrew with its points
 *    and accents five.
 * 3. Letters that are written from right to left turn round what stands between them, so that `א 1
 *    ב 2` is seen as `2 ב 1 א`. Here they stay in their places: each run of them is isolated, and
 *    numbers are seen from left to right in the order in which they are signed. A text with one
 *    number at most, and with more letters from right to left than others, runs from right to left
 *    as a whole, because nothing can be taken for something else.
 *
 * Only the display changes: what is signed stays as it was sent.
 *
 * Sources: Unicode Standard Annex 44 (Default_Ignorable_Code_Point), Annex 9 (bidirectional text),
 * Annex 15 section 9; Technical Report 36, section 2.
 */

const unseen =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{16fe4}\u{13441}\u{13442}\u{1d159}]/u;
const mark = /\p{M}/u;
const letter = /\p{L}/u;
const ofNoScript = /\p{Script=Inherited}/u;
/** Enclosing marks, and those with the combining class *overlay*. */
const overlay =
  /\p{Me}|[\u0334-\u0338]|[\u20d2-\u20d3]|[\u20d8-\u20da]|[\u20e5-\u20e6]|[\u20ea-\u20eb]|\u{10a39}|[\u{16af0}-\u{16af4}]|\u{1bc9e}|[\u{1d167}-\u{1d169}]/u;
const maxMarks = 5;
const maxMarksOfNoScript = 3;

/** The blocks whose characters run from right to left. Source: DerivedBidiClass.txt. */
const rightToLeft =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const number = /\p{N}/u;
/**
 * Digits of these blocks. Two numbers of them would change places, even among letters from left to
 * right.
 */
const turningNumber = new RegExp(`(?:(?=\\p{N})${rightToLeft.source})+`, 'gu');

/** @param {string} text */
const fromLeft = (text) => `\u2066${text}\u2069`;
/** @param {string} text */
const fromRight = (text) => `\u2067${text}\u2069`;

/** @param {string} character */
const nameOf = (character) =>
  `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;

/** @typedef {'right' | 'left' | 'number' | 'neutral'} Kind */
/** @typedef {{ kind: Kind, text: string }} Run */

/** @param {string} character @returns {Kind} */
const kindOf = (character) => {
  if (number.test(character)) return 'number';
  if (rightToLeft.test(character)) return 'right';
  return letter.test(character) ? 'left' : 'neutral';
};

/**
 * What is seen of each character of one line, with its marks.
 * @param {string} line
 * @returns {Run[]}
 */
const seenIn = (line) => {
  /** @type {Run[]} */
  const seen = [];
  let room = 0;
  let roomOfNoScript = 0;
  for (const character of line) {
    const isUnseen = unseen.test(character);
    if (mark.test(character) && !isUnseen && !overlay.test(character)) {
      room -= 1;
      if (ofNoScript.test(character)) roomOfNoScript -= 1;
      const base = seen.at(-1);
      if (base !== undefined && room >= 0 && roomOfNoScript >= 0) base.text += character;
      else seen.push({ kind: 'left', text: nameOf(character) });
    } else if (isUnseen || mark.test(character)) {
      room = 0;
      seen.push({ kind: 'left', text: nameOf(character) });
    } else {
      const isLetter = letter.test(character);
      room = isLetter ? maxMarks : 0;
      roomOfNoScript = isLetter ? maxMarksOfNoScript : 0;
      seen.push({ kind: kindOf(character), text: character });
    }
  }
  return seen;
};

/**
 * Runs of one kind. What is neutral between two of one kind belongs to them.
 * @param {readonly Run[]} seen
 */
const runsOf = (seen) => {
  /** @type {Run[]} */
  const runs = [];
  for (const { kind, text } of seen) {
    const last = runs.at(-1);
    const before = runs.at(-2);
    if (last?.kind === kind) last.text += text;
    else if (last?.kind === 'neutral' && before?.kind === kind) {
      before.text += last.text + text;
      runs.pop();
    } else runs.push({ kind, text });
  }
  return runs;
};

/** @param {readonly Run[]} seen @param {Kind} wanted */
const countOf = (seen, wanted) => seen.filter(({ kind }) => kind === wanted).length;

/**
 * The text as it is to be shown. Lines are separated by newlines. Where letters run from right to
 * left it has isolates (U+2066 to U+2069), which no text brings itself.
 *
 * @param {string} text
 * @returns {string}
 */
export const shownText = (text) => {
  const lines = text.split('\n').map(seenIn);
  const seen = lines.flat();
  if (!seen.some(({ kind, text: each }) => kind !== 'left' && rightToLeft.test(each))) {
    return lines.map((line) => line.map((each) => each.text).join('')).join('\n');
  }
  const runs = lines.map(runsOf);
  const isTurned =
    countOf(seen, 'right') > countOf(seen, 'left') && countOf(runs.flat(), 'number') <= 1;
  /** @param {Run} run */
  const isolate = ({ kind, text: run }) => {
    if (kind === 'number') return fromLeft(run.replaceAll(turningNumber, fromLeft));
    if (kind === 'right') return isTurned ? run : fromRight(run);
    return kind === 'left' && isTurned ? fromLeft(run) : run;
  };
  return runs
    .map((line) => line.map(isolate).join(''))
    .map((line) => (line === '' ? '' : isTurned ? fromRight(line) : fromLeft(line)))
    .join('\n');
};
