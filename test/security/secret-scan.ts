/**
 * Looks for secrets in whatever a run leaves behind, in every form in which one is carelessly
 * written down.
 *
 * Everything is searched as bytes (Latin-1 text), so that nothing hides in a binary value. What
 * looks like Base64 is decoded and searched, too, twice deep: a token in a token. White space is
 * searched around, because PEM breaks its lines.
 */
import { createHash } from 'node:crypto';

export interface Secret {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** A hash of it is as bad: it can be guessed. Not so of a key. */
  readonly guessable: boolean;
}

/** Shorter than that, a text may be there by chance. */
const shortest = 8;

const base64Alphabets = ['base64', 'base64url'] as const;

/** The characters that encode these bytes alone, wherever in a longer encoded text they stand. */
const base64Within = (bytes: Uint8Array): readonly string[] =>
  [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const from = Math.ceil((before * 8) / 6);
    const to = Math.floor((padded.length * 8) / 6);
    return base64Alphabets.map((alphabet) => padded.toString(alphabet).slice(from, to));
  });

const percentEncoded = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

const asJson = (text: string): string => JSON.stringify(text).slice(1, -1);

const escapedUnicode = (text: string): string =>
  asJson(text).replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const asHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

/** Forms of a text that is one; of other bytes these mean nothing. */
const formsOfText = (text: string): readonly string[] =>
  [
    text,
    asJson(text),
    asJson(asJson(text)),
    escapedUnicode(text),
    asHtml(text),
    encodeURIComponent(text),
    encodeURI(text),
    new URLSearchParams({ '': text }).toString().slice(1),
  ].map((form) => Buffer.from(form).toString('latin1'));

const formsOfBytes = (bytes: Uint8Array): readonly string[] => {
  const buffer = Buffer.from(bytes);
  return [
    buffer.toString('latin1'),
    Buffer.from(buffer.toString('latin1'), 'utf16le').toString('latin1'),
    buffer.toString('hex'),
    buffer.toString('hex').toUpperCase(),
    // What becomes of a Buffer in JSON.
    buffer.join(),
    percentEncoded(buffer),
    ...base64Within(buffer),
  ];
};

const isText = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes).equals(Buffer.from(Buffer.from(bytes).toString()));

/** Every way in which a secret would be recognised, as Latin-1 text. */
export const spellingsOf = ({ bytes, guessable }: Secret): readonly string[] => {
  const digests = guessable
    ? ['md5', 'sha1', 'sha256', 'sha512'].map((name) => createHash(name).update(bytes).digest())
    : [];
  const forms = [
    ...[bytes, ...digests].flatMap(formsOfBytes),
    ...(isText(bytes) ? formsOfText(Buffer.from(bytes).toString()) : []),
  ];
  return [...new Set(forms)].filter((form) => form.length >= shortest);
};

const base64Run = /[A-Za-z0-9+/_-]{16,}/g;

/** The text itself, without its white space, and what is Base64 in it. */
const readings = (text: string, depth: number): readonly string[] => {
  const dense = text.replaceAll(/\s|\\[nrt]/g, '');
  const decoded =
    depth === 0
      ? []
      : [...new Set(dense.match(base64Run))].flatMap((run) =>
          readings(Buffer.from(run, 'base64').toString('latin1'), depth - 1),
        );
  return [text, ...(dense === text ? [] : [dense]), ...decoded];
};

/**
 * @returns A search for these secrets: the names of those that a text or bytes hold, in whatever
 * form.
 */
export const createSecretScan = (
  secrets: readonly Secret[],
): ((content: string | Uint8Array) => readonly string[]) => {
  const wanted = secrets.map((secret) => ({ name: secret.name, spellings: spellingsOf(secret) }));
  return (content) => {
    const text = Buffer.from(content as string).toString('latin1');
    const read = readings(text, 2).join('\n');
    return wanted
      .filter(({ spellings }) => spellings.some((spelling) => read.includes(spelling)))
      .map(({ name }) => name);
  };
};
