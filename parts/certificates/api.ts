/** What the certificate authority publishes, and the time stamps of signatures. */
import type { IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import { usableRoots } from '../../packages/pki/src/roots.ts';
import { readSettingFile, SettingFileError } from '../../src/environment/setting-file.ts';
import type { ApiPart } from '../../src/part/opened.ts';
import type { ApiRooms } from '../../src/part/rooms.ts';
import { limitsFrom, takeAll } from '../../src/registry/rate-limiter.ts';
import type { certificatesConfiguration } from './configuration.ts';
import { type AskTimeStamp, createLongTerm, createTimeStampAuthority } from './long-term.ts';
import { createPkiRoutes } from './pki.route.ts';
import { createProofRoutes } from './proof.route.ts';
import { createPublisher } from './publisher.ts';

const timeoutMs = 5000;
/** A time stamp with the certificates of its authority has some 6 kB. */
const maxReplyBytes = 65_536;

const readReply = async (body: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (length > maxReplyBytes)
      throw new Error('the reply of the authority for time stamps is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
};

/** Asks the time-stamping authority at the URL, over HTTP (RFC 3161 3.4). */
const askAt =
  (url: string): AskTimeStamp =>
  async (request) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/timestamp-query' },
      body: Uint8Array.from(request),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) throw new Error(`the authority for time stamps answered ${response.status}`);
    if (response.body === null) throw new Error('the authority for time stamps sent no reply');
    return readReply(response.body);
  };

/** @throws SettingFileError */
const readRoots = (file: string): readonly Uint8Array[] => {
  const key = 'pki.timeStampAuthority.rootsFile';
  const roots = usableRoots(readSettingFile(key, file).toString('latin1'));
  if (roots !== undefined) return roots;
  throw new SettingFileError(key, 'the file has no usable certificate (PEM)');
};

/** @throws SettingFileError */
export const openPki = ({
  settings,
  custody,
  limiter,
  addressOf,
  applications,
  findOwn,
  now,
}: ApiRooms<(typeof certificatesConfiguration)['shapes']>): ApiPart => {
  const { timeStampAuthority, rateLimit } = settings.pki;
  const publisher = createPublisher({ custody, now });
  const timeStamps = createTimeStampAuthority(custody, now);
  const roots = timeStampAuthority && readRoots(timeStampAuthority.rootsFile);
  const wait = async (incoming: IncomingMessage | undefined): Promise<number> => {
    const address = addressOf(incoming);
    const limits = limitsFrom(address, rateLimit, undefined, (bucket) => `pki:${bucket}`);
    return (await takeAll(limiter, limits))?.seconds ?? 0;
  };
  const longTerm = createLongTerm({
    ask: timeStampAuthority === undefined ? timeStamps : askAt(timeStampAuthority.url),
    trust: roots === undefined ? () => custody.trust() : async () => roots,
    publisher,
    custody,
    now,
  });
  const { log } = applications;
  const routes = new Hono();
  routes.route('/', createPkiRoutes({ publisher, timeStamps, wait, log }));
  routes.route('/', createProofRoutes({ ...applications, findOwn, longTerm }));
  return { routes };
};
