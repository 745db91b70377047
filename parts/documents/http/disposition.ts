/**
 * Content-Disposition, both ways. File names are data of others: they come and go in the encoding of
 * RFC 8187 and never reach a path.
 *
 * Source: RFC 6266 4.1 to 4.3, RFC 8187 3.2.
 */

/** Of `attr-char` in RFC 8187 what `encodeURIComponent` leaves as it is and must not be. */
const encoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** What file systems and headers take everywhere. */
const plain = (text: string): string =>
  text.replaceAll(/[^A-Za-z0-9 ._-]+/g, '_').replace(/^[. ]+/, '') || 'document';

/** What file systems refuse, and what would make a hidden file or a path of it. */
const asFileName = (title: string): string =>
  title
    .replaceAll(/[/\\:*?"<>|\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, '_')
    .replace(/^[. ]+/, '')
    .trim() || 'document';

/** @returns The value of the header: a file that is called as the document, with `.pdf`. */
export const dispositionOf = (kind: 'attachment' | 'inline', title: string): string => {
  const name = /\.pdf$/i.test(title) ? title : `${title}.pdf`;
  const file = asFileName(name);
  return `${kind}; filename="${plain(file)}"; filename*=UTF-8''${encoded(file)}`;
};

const parameter = /;\s*([\w-]+\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;

const decode = (value: string): string | undefined => {
  const [, bytes] = /^utf-8'[^']*'(.*)$/i.exec(value) ?? [];
  try {
    return bytes === undefined ? undefined : decodeURIComponent(bytes);
  } catch {
    return undefined;
  }
};

/**
 * @returns The file name in a header, without a path and without `.pdf`; undefined where there is
 *   none that can be read.
 */
export const fileNameIn = (header: string | undefined): string | undefined => {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, token] of (header ?? '').matchAll(parameter))
    found.set(name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, '$1') ?? token ?? '');
  const extended = found.get('filename*');
  // Headers are read as Latin-1, and browsers write UTF-8 there.
  const simple = found.get('filename');
  const text =
    (extended === undefined ? undefined : decode(extended)) ??
    (simple === undefined ? undefined : Buffer.from(simple, 'latin1').toString('utf8'));
  const base = text
    ?.split(/[/\\]/)
    .at(-1)
    ?.replace(/\.pdf$/i, '');
  return base === undefined || base.trim() === '' ? undefined : base;
};
