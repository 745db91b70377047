/** The documents of a process in the console: what they are, who has opened and who has signed. */
import { html } from 'hono/html';
import { cardTable, type Html, nothing, timeOf } from '../../../src/console/pages/markup.ts';
import { shownText } from '../../../src/http/pages/shown-text/shown-text.js';
import type { OperatorRooms } from '../../../src/part/rooms.ts';
import type { AdditionConsole } from '../../processes/index.ts';
import { createDocumentRecords } from '../records.ts';
import { documentsIn } from '../signing/definition.ts';
import { createResults, resultIdOf } from '../signing/results.ts';
import { type ToldDocument, toldIn } from './shown.ts';

/** The name of a signer's chart: place of the step, key, place among the substitutes. */
const childPattern = /^(\d+)-(.+)-\d+$/;

export const openDocumentConsole = async ({
  redis,
  prefix,
  now,
}: OperatorRooms): Promise<AdditionConsole> => {
  const records = createDocumentRecords({ redis, prefix, now });
  const results = createResults({ redis, prefix });
  return {
    toldOf: async (process, members, steps) => ({
      ...members,
      documents: await Promise.all(
        documentsIn(members).map(async (document): Promise<ToldDocument> => {
          const id = resultIdOf({ ...process, name: document.name });
          const [chain, openings] = await Promise.all([
            results.find(id),
            records.openings(document.document),
          ]);
          const opened = openings.flatMap(({ by, at }) => {
            const own = by.startsWith(`${process.instance} `);
            const [, step, key] = own
              ? (childPattern.exec(by.slice(process.instance.length + 1)) ?? [])
              : [];
            return key === undefined ? [] : [{ step: steps[Number(step)]?.name ?? '', key, at }];
          });
          return {
            ...document,
            ...(chain !== undefined && { result: id }),
            opened,
            signatures: (chain?.revisions ?? []).map(({ step, name, how, level, at }) => ({
              step,
              name,
              how,
              level,
              at,
            })),
          };
        }),
      ),
    }),
    section: (told) => documentsSection(toldIn(told)),
  };
};

const row = ({
  name,
  title,
  pages,
  code,
  document,
  result,
  opened,
  signatures,
}: ToldDocument): Html =>
  html`<tr role="row"><th scope="row" role="rowheader" class="first">${shownText(title)}<span class="sub">${name}, ${pages} ${pages === 1 ? 'page' : 'pages'}</span></th><td role="cell" class="second nowrap"><code>${code}</code><span class="sub">${document}</span></td><td role="cell">${
    opened.length === 0
      ? html`<span class="quiet">nobody</span>`
      : opened.map(
          ({ step, key, at }) =>
            html`<span class="sub">${shownText(step)} ${key}, ${timeOf(at)}</span>`,
        )
  }</td><td role="cell" class="wide">${
    signatures.length === 0
      ? html`<span class="quiet">nobody</span>`
      : signatures.map(
          ({ name: who, how, level, at }) =>
            html`<span class="sub">${shownText(who)}: ${how}, ${level}, ${timeOf(at)}</span>`,
        )
  }${result === undefined ? nothing : html`<span class="sub">${result}</span>`}</td></tr>`;

const documentsSection = (documents: readonly ToldDocument[]): Html =>
  documents.length === 0
    ? nothing
    : html`<section class="attempts" aria-labelledby="documents"><h2 id="documents">Documents</h2>${cardTable(
        'Documents of the process',
        ['Document', 'Code', 'Opened', 'Signed'],
        documents.map(row),
      )}</section>`;
