/** Pieces of Markdown, for the descriptions of the OpenAPI document. */

export const code = (text: string): string => `\`${text}\``;

/** A pipe would end the cell and a line break the row, also inside of backticks. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ');

export const table = (titles: readonly string[], rows: readonly (readonly string[])[]): string =>
  [titles, titles.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map(cell).join(' | ')} |`)
    .join('\n');

/** A chapter of the description, which the contents of a reference lead to. */
export const chapter = (title: string, ...paragraphs: readonly string[]): string =>
  [`## ${title}`, ...paragraphs.filter((each) => each !== '')].join('\n\n');
