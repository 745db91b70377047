/**
 * The pages on which signers read: `/tasks/{token}/documents/{name}`, and the PDF below it.
 *
 * Who has the link of a signer sees the document of that signer's step, and no other. A link that
 * leads to nothing, and a name that is none of its step, are answered as the page of the signer
 * answers them. What is shown is what is signed: a document whose content is not the one of the
 * process is not shown.
 *
 * Who fetches the PDF has opened the document: a preview of a link fetches the page alone.
 */
import { type Context, Hono, type Next } from 'hono';
import { html } from 'hono/html';
import { toError } from '../../../packages/engine/src/redis/to-error.ts';
import type { HttpEnvironment } from '../../../src/http/body.ts';
import { answerPage, policyWith } from '../../../src/http/pages/headers.ts';
import { chooseLanguage } from '../../../src/http/pages/language.ts';
import { pageLanguages } from '../../../src/http/pages/languages.ts';
import type { AdditionPageRooms, AdditionPages, AdditionTask } from '../../processes/index.ts';
import type { DocumentShapes } from '../configuration.ts';
import type { Documents } from '../documents.ts';
import { answerContent } from '../http/content.ts';
import type { DocumentRecord } from '../records.ts';
import { documentOfStep, documentsIn, type ProcessDocument } from '../signing/definition.ts';
import { StoreError } from '../store/store.ts';
import { createReaderFiles } from './reader-files.ts';
import { documentSection, readerPage } from './reader-page.ts';

type ReaderRooms = Pick<AdditionPageRooms<DocumentShapes>, 'findTask' | 'frame' | 'onError'>;

const documentOf = (task: AdditionTask): ProcessDocument | undefined => {
  const name = documentOfStep(task.members);
  return documentsIn(task.prepared).find((each) => each.name === name);
};

/** Names a signer in the list of those who have opened a document. */
const openerOf = ({ instance, child }: Pick<AdditionTask, 'instance' | 'child'>): string =>
  `${instance} ${child}`;

export const createReaderPages = (
  { findTask, frame, onError }: ReaderRooms,
  documents: Pick<Documents, 'findAny' | 'read' | 'noteOpened'>,
): AdditionPages => {
  const files = createReaderFiles();

  interface Visit {
    readonly task: AdditionTask;
    readonly document: DocumentRecord;
  }

  /** @returns Undefined where there is nothing to see. */
  const visitOf = async (token: string, name: string): Promise<Visit | undefined> => {
    const task = await findTask(token);
    const named = task && documentOf(task);
    if (task === undefined || named?.name !== name) return undefined;
    const document = await documents.findAny(named.document);
    return document?.sha256 === named.sha256 ? { task, document } : undefined;
  };

  type Handle = (c: Context<HttpEnvironment>, visit: Visit) => Promise<Response> | Response;

  const withDocument =
    (handle: Handle) =>
    async (c: Context<HttpEnvironment>, next: Next): Promise<Response | undefined> => {
      const visit = await visitOf(c.req.param('token') ?? '', c.req.param('name') ?? '');
      if (visit !== undefined) return handle(c, visit);
      // The routes of signers answer it.
      await next();
      return undefined;
    };

  const show: Handle = (c, { document }) => {
    const { path } = c.req;
    return answerPage(
      readerPage(
        {
          ...frame(),
          language: chooseLanguage(undefined, c.req.header('accept-language')),
        },
        {
          document,
          content: `${path}/content`,
          back: path.slice(0, path.indexOf('/documents/')),
          script: files.addressOf('reader.js'),
          style: files.addressOf('reader.css'),
        },
      ),
      200,
      // For a PDF that has not all of its fonts in itself.
      { 'content-security-policy': `${policyWith([])}; font-src 'self'` },
    );
  };

  const content: Handle = async (c, { task, document }) => {
    try {
      const asked = { method: c.req.raw.method, range: c.req.header('range') };
      const answer = await answerContent(documents, document, asked, onError);
      if (answer === undefined) return new Response(null, { status: 416 });
      if (asked.method === 'HEAD') return answer;
      await documents.noteOpened(document.id, openerOf(task)).catch(async (error: unknown) => {
        await answer.body?.cancel();
        throw error;
      });
      return answer;
    } catch (error) {
      onError(toError(error));
      return new Response(null, { status: error instanceof StoreError ? 503 : 500 });
    }
  };

  const at = '/tasks/:token/documents/:name';
  const routes = new Hono<HttpEnvironment>();
  routes.get(at, withDocument(show));
  routes.get(`${at}/content`, withDocument(content));
  routes.get('/documents/assets/:version/:path{.+}', async (c, next) => {
    const { version, path } = c.req.param();
    const file = await files.serve(version, path, c.req.header('accept-encoding'));
    if (file !== undefined) return file;
    await next();
    return undefined;
  });

  return {
    routes,
    section: (task, path, language) => {
      const document = documentOf(task);
      const known = pageLanguages.find((each) => each === language) ?? 'en';
      return document === undefined
        ? html``
        : documentSection(known, document, `${path}/documents/${document.name}`);
    },
  };
};
