/** A real SMTP server on a port of its own, which keeps what it takes. */
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface TakenMail {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body, as they came. */
  readonly raw: string;
}

export interface TestMailServer {
  readonly port: number;
  readonly url: string;
  readonly mails: readonly TakenMail[];
  /** Reply codes for the next mails, by command; then it takes them again. */
  readonly refuse: { rcpt: number[]; data: number[] };
  close(): Promise<void>;
}

const refusal = (code: number, address: string): Error =>
  Object.assign(new Error(`${address} is not wanted here`), { responseCode: code });

/** Reply codes of a server that has bad days; undefined for what it takes. */
interface BadDays {
  refuse?(address: string): number | undefined;
  /** The mail is kept all the same. */
  disown?(mail: TakenMail): number | undefined;
}

export const startMailServer = async (
  options: SMTPServerOptions = {},
  badDays: BadDays = {},
): Promise<TestMailServer> => {
  const mails: TakenMail[] = [];
  const refuse: TestMailServer['refuse'] = { rcpt: [], data: [] };
  const server = new SMTPServer({
    disableReverseLookup: true,
    hideSTARTTLS: true,
    authOptional: true,
    ...options,
    onRcptTo: ({ address }, _session, callback) => {
      const code = refuse.rcpt.shift() ?? badDays.refuse?.(address);
      callback(code === undefined ? null : refusal(code, address));
    },
    onData: (stream, { envelope: { mailFrom, rcptTo } }, callback) => {
      const take = (raw: string): void => {
        const code = refuse.data.shift();
        if (code !== undefined) {
          callback(refusal(code, 'it'));
          return;
        }
        const mail: TakenMail = {
          at: Date.now(),
          from: mailFrom === false ? '' : (mailFrom?.address ?? ''),
          to: rcptTo.map(({ address }) => address),
          raw,
        };
        mails.push(mail);
        const told = badDays.disown?.(mail);
        callback(told === undefined ? null : refusal(told, 'it'));
      };
      // One whose sender dies in the middle is none.
      text(stream).then(take, callback);
    },
  });
  // A client that gives up is no failure of the test.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    url: `smtp${options.secure ? 's' : ''}://127.0.0.1:${port}`,
    mails,
    refuse,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
};
