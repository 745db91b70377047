/**
 * Documents over HTTP: an application uploads them, reads its own, and deletes them.
 *
 * application-route.ts authenticates the application. An upload is proved first and then read as a
 * stream, so that strangers write nothing to the disk. Documents of others, unknown ones and those
 * that are kept no longer get the same answer.
 */
import { Hono } from 'hono';
import { json } from '../../../src/http/application-refusals.ts';
import {
  type Answered,
  type ApplicationRouteOptions,
  createApplicationRoute,
  type RouteContext,
  readLater,
  readNothing,
} from '../../../src/http/application-route.ts';
import type { HttpEnvironment } from '../../../src/http/body.ts';
import { type Documents, maxDocumentBytes, maxTitleLength } from '../documents.ts';
import type { DocumentMetrics } from '../metrics.ts';
import type { DocumentRecord } from '../records.ts';
import { shortCodeOf } from '../short-code.ts';
import { answerContent } from './content.ts';
import { fileNameIn } from './disposition.ts';
import {
  inUse,
  noRange,
  notPdf,
  refusalOf,
  tooManyBytes,
  tooManyUploads,
  unknown,
} from './refusals.ts';
import { discardUpload, openUpload, type UploadLimits } from './upload.ts';

/** Uploads at a time, in this process and of one application. */
const maxUploads = 16;
const maxUploadsOfOne = 6;

export interface DocumentRoutesOptions extends ApplicationRouteOptions {
  readonly documents: Pick<Documents, 'add' | 'find' | 'read' | 'remove'>;
  readonly metrics: DocumentMetrics;
}

const isoOf = (at: number): string => new Date(at).toISOString();

const presentDocument = (document: DocumentRecord) => {
  const { id, title, sha256, size, pages, createdAt, expiresAt } = document;
  return {
    id,
    title,
    pages,
    size,
    sha256,
    code: shortCodeOf(sha256),
    createdAt: isoOf(createdAt),
    expiresAt: isoOf(expiresAt),
  };
};

/** Whether the body is a PDF as it is. Parameters of the type mean nothing. */
const isPdf = ({ req }: RouteContext): boolean => {
  const [type = ''] = (req.header('content-type') ?? '').toLowerCase().split(';');
  const coding = req.header('content-encoding')?.trim().toLowerCase() ?? 'identity';
  return type.trim() === 'application/pdf' && coding === 'identity';
};

/** Counts uploads, so that many slow ones do not take all memory and files. */
const createRoom = () => {
  const ofOne = new Map<string, number>();
  let inAll = 0;
  const change = (apId: string, by: 1 | -1): void => {
    inAll += by;
    const count = (ofOne.get(apId) ?? 0) + by;
    if (count === 0) ofOne.delete(apId);
    else ofOne.set(apId, count);
  };
  return {
    has: (apId: string): boolean => inAll < maxUploads && (ofOne.get(apId) ?? 0) < maxUploadsOfOne,
    change,
  };
};

export const createDocumentRoutes = (options: DocumentRoutesOptions) => {
  const { documents, metrics, limits, log } = options;
  const { serve } = createApplicationRoute(options);
  const room = createRoom();
  const uploadLimits: UploadLimits = { maxBytes: maxDocumentBytes, pauseMs: limits.timeoutMs };

  const refused = (error: unknown): Answered => {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    if (refusal[0] >= 500) log.trouble(error as Error);
    return refusal;
  };

  const upload = async (c: RouteContext, apId: string): Promise<Answered> => {
    if (!isPdf(c)) return notPdf;
    const title = c.req.query('title') ?? fileNameIn(c.req.header('content-disposition'));
    if (title !== undefined && (title.trim() === '' || [...title].length > maxTitleLength))
      return [400, 'bad-request', `title must have 1 to ${maxTitleLength} characters`, 101];
    if (!room.has(apId)) return tooManyUploads;
    room.change(apId, 1);
    try {
      const { source, end } = openUpload(c, uploadLimits);
      try {
        const added = await documents.add(apId, { title, source });
        if (added.kind === 'too-many') return tooManyBytes;
        if (added.kind === 'unusable') return [422, 'unusable', added.error, 101];
        const { document } = added;
        metrics.uploaded(document.size);
        return json(presentDocument(document), 201, { location: `/documents/${document.id}` });
      } finally {
        end();
      }
    } catch (error) {
      return refused(error);
    } finally {
      room.change(apId, -1);
    }
  };

  const counted = async (c: RouteContext, apId: string): Promise<Answered> => {
    const answered = await upload(c, apId);
    if (answered instanceof Response) return answered;
    const [status, error] = answered;
    metrics.refused(error);
    // One that was too slow has had its time.
    if (status !== 408) await discardUpload(c.env?.incoming, uploadLimits);
    return answered;
  };

  const content = async (c: RouteContext, apId: string, id: string): Promise<Answered> => {
    const document = await documents.find(apId, id);
    if (document === undefined) return unknown;
    try {
      const asked = { method: c.req.raw.method, range: c.req.header('range') };
      return (await answerContent(documents, document, asked, log.trouble)) ?? noRange;
    } catch (error) {
      return refused(error);
    }
  };

  const routes = new Hono<HttpEnvironment>();
  const at = '/documents/:id';

  routes.post('/documents', async (c) => {
    const answered = await serve(c, '/documents', 'status', readLater, (apId) => counted(c, apId));
    // The rest of its body may not be read, and then the connection is of no use to anybody.
    if (answered.status >= 400) answered.headers.set('connection', 'close');
    return answered;
  });

  routes.get(at, (c) =>
    serve(c, '/documents/{id}', 'status', readNothing, async (apId) => {
      const document = await documents.find(apId, c.req.param('id'));
      return document === undefined ? unknown : json(presentDocument(document));
    }),
  );

  routes.get(`${at}/content`, (c) =>
    serve(c, '/documents/{id}/content', 'status', readNothing, (apId) =>
      content(c, apId, c.req.param('id')),
    ),
  );

  routes.delete(at, (c) =>
    serve(c, '/documents/{id}', 'status', readNothing, async (apId) => {
      try {
        const removal = await documents.remove(apId, c.req.param('id'));
        if (removal === 'unknown') return unknown;
        return removal === 'used' ? inUse : json({ result: 'deleted' });
      } catch (error) {
        return refused(error);
      }
    }),
  );

  return routes;
};
