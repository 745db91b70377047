/** What the certificate authority publishes, and the time stamps of signatures. */
import type { IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import type { ApiPart } from '../../src/part/opened.ts';
import type { ApiRooms } from '../../src/part/rooms.ts';
import { limitsFrom, takeAll } from '../../src/registry/rate-limiter.ts';
import type { certificatesConfiguration } from './configuration.ts';
import { createLongTerm, createTimeStampAuthority } from './long-term.ts';
import { createPkiRoutes } from './pki.route.ts';
import { createProofRoutes } from './proof.route.ts';
import { openTimeStamps } from './proofs.ts';
import { createPublisher } from './publisher.ts';

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
  const { rateLimit } = settings.pki;
  const publisher = createPublisher({ custody, now });
  const timeStamps = createTimeStampAuthority(custody, now);
  const wait = async (incoming: IncomingMessage | undefined): Promise<number> => {
    const address = addressOf(incoming);
    const limits = limitsFrom(address, rateLimit, undefined, (bucket) => `pki:${bucket}`);
    return (await takeAll(limiter, limits))?.seconds ?? 0;
  };
  const longTerm = createLongTerm({
    ...openTimeStamps({ settings, custody, now }, timeStamps),
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
