/**
 * Templates of an operator for the mails to signers: a folder with `invited.en.txt`,
 * `invited.en.html`, `reminded.de.txt` …, read once, at the start.
 *
 * A `.txt` begins with the line `Subject: …` and an empty line. `{{name}}` stands for a value. In
 * HTML it is escaped, so it may stand in text and in attributes with quotes. A language without a
 * `.txt` has the mail of the service.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { html } from 'hono/html';
import { SettingFileError } from '../../../src/environment/setting-file.ts';
import { type PageLanguage, pageLanguages } from '../../../src/http/pages/languages.ts';

const placeholders = ['name', 'application', 'title', 'link'] as const;
/** Each is one line. */
export type MailValues = Readonly<Record<(typeof placeholders)[number], string>>;

export type MailKind = 'invited' | 'reminded';

export interface FilledMail {
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
}

/** @returns Undefined where the operator has no template for it. */
export type FillTemplate = (
  what: MailKind,
  language: PageLanguage,
  values: MailValues,
) => FilledMail | undefined;

const maxBytes = 65_536;
const nameOfFile = new RegExp(`^(invited|reminded)\\.(${pageLanguages.join('|')})\\.(txt|html)$`);
/** Also what was meant as a placeholder and is none. */
const placeholder = /\{\{([^{}]*)\}\}/g;
const subjectLine = /^Subject: (.+)\n\n/;

const escapeHtml = (text: string): string => `${html`${text}`}`;

const fill = (
  template: string,
  values: MailValues,
  write = (text: string): string => text,
): string =>
  template.replaceAll(placeholder, (_, name: string) =>
    write(values[name.trim() as keyof MailValues]),
  );

const problemIn = (name: string, text: string): string | undefined => {
  const used = [...text.matchAll(placeholder)].map(([, each = '']) => each.trim());
  const wrong = used.find((each) => !placeholders.some((known) => known === each));
  if (wrong !== undefined)
    return `has the placeholder {{${wrong.slice(0, 40)}}}, which is not known`;
  if (/\{\{|\}\}/.test(text.replaceAll(placeholder, '')))
    return 'has braces {{ or }} that do not match';
  if (!used.includes('link')) return 'must have the placeholder {{link}}';
  if (name.endsWith('.html')) return undefined;
  const [, subject] = subjectLine.exec(text) ?? [];
  if (subject === undefined) return 'must begin with a line "Subject: …" and an empty line';
  return /\{\{\s*link/.test(subject)
    ? 'must not have the placeholder {{link}} in its subject'
    : undefined;
};

const refuse = (about: string): never => {
  throw new SettingFileError('mail.templates', about);
};

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'no UTF-8';

const read = (folder: string, name: string): string => {
  let text: string;
  try {
    const bytes = readFileSync(join(folder, name));
    if (bytes.length > maxBytes) return refuse(`${name} is longer than ${maxBytes} bytes`);
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
  } catch (error) {
    if (error instanceof SettingFileError) throw error;
    return refuse(`${name} cannot be read (${codeOf(error)})`);
  }
  const problem = problemIn(name, text);
  return problem === undefined ? text : refuse(`${name} ${problem}`);
};

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).filter((name) => /\.(txt|html)$/.test(name));
  } catch (error) {
    return refuse(`the folder cannot be read (${codeOf(error)})`);
  }
};

/**
 * @param folder Other files than `.txt` and `.html` in it are left alone.
 * @throws SettingFileError that names the file and the placeholder.
 */
export const readMailTemplates = (folder: string): FillTemplate => {
  const files = new Map<string, string>();
  for (const name of namesIn(folder)) {
    if (!nameOfFile.test(name))
      refuse(
        `${name} is none of invited.<language>.txt, reminded.<language>.txt and the same with .html`,
      );
    files.set(name, read(folder, name));
  }
  for (const name of files.keys()) {
    const text = name.replace(/html$/, 'txt');
    if (!files.has(text)) refuse(`${name} needs ${text} beside it`);
  }
  return (what, language, values) => {
    const text = files.get(`${what}.${language}.txt`);
    if (text === undefined) return undefined;
    const page = files.get(`${what}.${language}.html`);
    const [line = '', subject = ''] = subjectLine.exec(text) ?? [];
    return {
      subject: fill(subject, values).trim().slice(0, 150),
      text: fill(text.slice(line.length), values),
      ...(page !== undefined && { html: fill(page, values, escapeHtml) }),
    };
  };
};
