/** Opens the publications of the certificate authority, and the time stamps of signatures. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { ConsoleDeps } from '../console/deps.ts';
import { type AskTimeStamp, createLongTerm, createTimeStampAuthority } from '../pki/long-term.ts';
import type { KeyCustody } from '../pki/ports.ts';
import { createPublisher } from '../pki/publisher.ts';
import { usableRoots } from '../pki/roots.ts';
import { limitsFrom, takeAll } from '../registry/rate-limiter.ts';
import type { Core } from './core.ts';
import { StartError } from './start-error.ts';

const timeoutMs = 5000;
/** The longest reply. A time stamp with the certificates of its authority has some 6 kB. */
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

/** Asks another authority for time stamps, over HTTP (RFC 3161 3.4). */
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

/** @throws StartError */
const readRoots = (file: string): readonly Uint8Array[] => {
  try {
    const found = usableRoots(readFileSync(file, 'latin1'));
    if (found !== undefined) return found;
  } catch {}
  const setting = 'pki.timeStampAuthority.rootsFile';
  throw new StartError(
    'usage',
    `${setting}: the file cannot be read, or has no usable certificate (PEM).`,
  );
};

export const openPki = (
  { configuration, commands, limiterOver, now }: Core,
  { custody, addressOf }: { readonly custody: KeyCustody } & Pick<ConsoleDeps, 'addressOf'>,
) => {
  const { timeStampAuthority, rateLimit } = configuration.pki;
  const limiter = limiterOver(commands);
  const publisher = createPublisher({ custody, now });
  const timeStamps = createTimeStampAuthority(custody, now);
  const roots = timeStampAuthority && readRoots(timeStampAuthority.rootsFile);
  return {
    publisher,
    timeStamps,
    wait: async (incoming: IncomingMessage | undefined): Promise<number> => {
      const limits = limitsFrom(
        addressOf(incoming),
        rateLimit,
        undefined,
        (bucket) => `pki:${bucket}`,
      );
      return (await takeAll(limiter, limits))?.seconds ?? 0;
    },
    longTerm: createLongTerm({
      ask: timeStampAuthority === undefined ? timeStamps : askAt(timeStampAuthority.url),
      trust: roots === undefined ? () => custody.trust() : async () => roots,
      publisher,
      custody,
      now,
    }),
  };
};
