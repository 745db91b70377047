/**
 * Who may read `/metrics`.
 *
 * Metrics hold no secrets and no numbers, but they do name the application providers and tell how business goes. So they
 * are not for everybody who can reach the API. With a token, whoever shows it; that is the way for a scraper on another
 * machine. Without one, only this machine, which is what a sandbox and a scraper beside the process need; a request that a
 * proxy has passed on does not count as such, because to us everybody behind a proxy on this machine comes from here. Or
 * everybody, when the configuration says so: for a network that only the scraper can reach.
 */
import type { IncomingMessage } from 'node:http';
import { createAddressList, isForwarded } from '../http/trusted-proxy.ts';
import { equalInConstantTime } from './constant-time.ts';

export interface AccessSettings {
  readonly token?: string | undefined;
  readonly open: boolean;
}

/**
 * granted    Answer.
 * token      A token is wanted and was not shown, or was another.
 * elsewhere  Without a token only this machine is answered.
 */
export type Access = 'granted' | 'token' | 'elsewhere';

const loopback = createAddressList(['127.0.0.0/8', '::1']);

export const createAccess =
  ({ token, open }: AccessSettings) =>
  (authorization: string | undefined, incoming: IncomingMessage | undefined): Access => {
    if (token !== undefined) {
      const shown = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
      return equalInConstantTime(shown, token) ? 'granted' : 'token';
    }
    if (open) return 'granted';
    return !isForwarded(incoming) && loopback(incoming?.socket?.remoteAddress) ? 'granted' : 'elsewhere';
  };
