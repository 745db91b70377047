/**
 * Characters that no screen shows and that can hold a second text, which is signed with the first:
 * Unicode tags (U+E0000 to U+E007F), a copy of ASCII, and the variation selectors of the same plane
 * (U+E0100 to U+E01EF), one for nearly every byte. Pages show their names, but the screen of a SIM
 * shows nothing, so a text with one is refused when it is submitted.
 *
 * So are the flags of England, Scotland and Wales, which are written with tags, and variants of
 * ideographs. The rest of the range is not assigned, and invisible as well. The sixteen variation
 * selectors of the basic plane belong to emoji; they are shown by name.
 *
 * Source: Unicode Standard 23.4 and 23.9; Default_Ignorable_Code_Point of U+E0000 to U+E0FFF.
 */
const tag = /[\u{e0000}-\u{e0fff}]/u;

export const hasTags = (text: string): boolean => tag.test(text);

/** The words of the error, after the name of the member. */
export const tagWords =
  'must not have Unicode tags or variation selectors (U+E0000 to U+E0FFF): nobody sees them';
