/** A real SMTP server on a port of its own, which keeps what it takes. */
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface TakenMail {
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

export const startMailServer = async (options: SMTPServerOptions = {}): Promise<TestMailServer> => {
  const mails: TakenMail[] = [];
  const refuse: TestMailServer['refuse'] = { rcpt: [], data: [] };
  const server = new SMTPServer({
    disableReverseLookup: true,
    hideSTARTTLS: true,
    authOptional: true,
    ...options,
    onRcptTo: ({ address }, _session, callback) => {
      const code = refuse.rcpt.shift();
      callback(code === undefined ? null : refusal(code, address));
    },
    onData: (stream, { envelope: { mailFrom, rcptTo } }, callback) => {
      void text(stream).then((raw) => {
        const code = refuse.data.shift();
        if (code !== undefined) return callback(refusal(code, 'it'));
        mails.push({
          from: mailFrom === false ? '' : (mailFrom?.address ?? ''),
          to: rcptTo.map(({ address }) => address),
          raw,
        });
        return callback(null);
      });
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
