/**
 * Unicode tags: a copy of ASCII that no screen shows. A text can hold a second one in them, which
 * is signed with the first. Pages show their names, but the screen of a SIM shows nothing, so a
 * text with tags is refused when it is submitted.
 *
 * Also refused are the flags of England, Scotland and Wales, which are written with tags. Of the
 * block, the characters that are not assigned are invisible as well.
 *
 * Source: Unicode Standard 23.9; Default_Ignorable_Code_Point of U+E0000 to U+E0FFF.
 */
const tag = /[\u{e0000}-\u{e007f}]/u;

export const hasTags = (text: string): boolean => tag.test(text);

/** Follows the name of the member that has some. */
export const tagWords = 'must not have Unicode tags (U+E0000 to U+E007F): nobody sees them';
