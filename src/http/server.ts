/**
 * Listens, and stops listening without cutting off requests.
 *
 * Node's timeouts end slow senders, ours end slow readers (unread-answers.ts). A request that fails
 * before it is complete (malformed HTTP, endless headers) reaches no route, so its Fault is written
 * to the socket here. Cases that Node and the adapter would answer with an empty body (a missing or
 * invalid Host, an unknown Expect) are served, or get a Fault.
 */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, RequestError } from '@hono/node-server';
// A listener replaces the global Response. Made after that, this sign of the adapter would be
// written as an answer.
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { certificateIn, privateKeyIn, UnnamedCurveError } from '../../packages/pki/src/pem.ts';
import { fault } from '../../packages/protocol/src/fault.ts';
import { readSettingFile, SettingFileError } from '../environment/setting-file.ts';
import { isLongRequest } from './long-requests.ts';
import { answerType, faultResponse, presentFault } from './present.ts';
import { type RefuseRequest, refusalPauseMs } from './refusal.ts';
import { endUnreadAnswers } from './unread-answers.ts';

export interface ServerOptions {
  readonly fetch: (
    request: Request,
    bindings: { incoming: IncomingMessage; outgoing: ServerResponse },
  ) => Response | Promise<Response>;
  /** Refuses requests when there is no room. Default: none is refused here. */
  readonly refusal?: RefuseRequest;
  readonly host: string;
  /** The port; 0 chooses a free one. */
  readonly port: number;
  readonly requestTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** The time that an idle connection is kept between two requests. */
  readonly keepAliveMs?: number;
  /** The maximum of open connections. Default: as many as the system allows. */
  readonly maxConnections?: number;
  readonly tls:
    | {
        readonly certFile: string;
        readonly keyFile: string;
        readonly clientCaFile?: string | undefined;
      }
    | undefined;
}

export interface RunningServer {
  /** The address of the server with the actual port, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Makes answers close their connections. New requests are served as before. */
  sayGoodbye(): void;
  /** Accepts no new connection, and resolves when the last answer has been sent. */
  drain(): Promise<void>;
  /** Closes all connections that are still open. */
  cut(): void;
}

type Tls = NonNullable<ServerOptions['tls']>;

/** @param check Throws when the content is not what it must be. */
const readTlsFile = <T>(
  name: keyof Tls,
  path: string,
  what: string,
  check: (content: Buffer) => T,
) => {
  const key = `tls.${name}`;
  const content = readSettingFile(key, path);
  try {
    return { content, value: check(content) };
  } catch (error) {
    const why = error instanceof UnnamedCurveError ? error.message : `the file holds no ${what}`;
    throw new SettingFileError(key, why);
  }
};

/** The options of TLS. A client certificate is asked for, but not required here. */
const tlsOptions = ({ certFile, keyFile, clientCaFile }: Tls) => {
  const read = (key: 'certFile' | 'clientCaFile', path: string) =>
    readTlsFile(key, path, 'certificate (PEM)', certificateIn);
  const cert = read('certFile', certFile);
  const key = readTlsFile(
    'keyFile',
    keyFile,
    'private key (PEM, without a passphrase)',
    privateKeyIn,
  );
  if (!cert.value.checkPrivateKey(key.value)) {
    throw new SettingFileError(
      'tls.keyFile',
      'this is not the key of the certificate in tls.certFile',
    );
  }
  return {
    cert: cert.content,
    key: key.content,
    ...(clientCaFile !== undefined && {
      ca: read('clientCaFile', clientCaFile).content,
      requestCert: true,
      rejectUnauthorized: false,
    }),
  };
};

/** Answers a request that the adapter cannot read, such as one with an invalid Host. */
const refuseRequest = (error: unknown): Response =>
  faultResponse(
    500,
    error instanceof RequestError ? fault(101, 'The request is not valid HTTP') : fault(900),
  );

const refuseConnection = (error: Error, socket: Duplex): void => {
  if (!socket.writable) return;
  const late = 'code' in error && error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  if (late && isLongRequest(socket)) return;
  const body = JSON.stringify(
    presentFault(
      fault(101, late ? 'The request did not arrive in time' : 'The request is not valid HTTP'),
    ),
  );
  socket.end(
    [
      `HTTP/1.1 ${late ? '408 Request Timeout' : '400 Bad Request'}`,
      `Content-Type: ${answerType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
};

const makeRoomMs = 50;

/** Connections that the system queues while we are busy. Further clients retry after seconds. */
const maxUnaccepted = 4096;

const urlOf = (server: Server, host: string, secure: boolean): string => {
  const { port } = server.address() as AddressInfo;
  // A browser cannot open these addresses.
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `${secure ? 'https' : 'http'}://${name.includes(':') ? `[${name}]` : name}:${port}`;
};

/** @throws When the address is taken; SettingFileError. */
export const listen = async (options: ServerOptions): Promise<RunningServer> => {
  const { host, port, tls } = options;
  let leaving = false;
  /** Closes the connection after an answer while the server is leaving, also for older requests. */
  class Answer extends ServerResponse {
    override writeHead(...given: [number, ...never[]]): this {
      if (leaving) this.shouldKeepAlive = false;
      return super.writeHead(...(given as [number]));
    }
  }
  // Routes answer late bodies. This timeout ends connections that never send a whole request.
  const requestTimeout = options.requestTimeoutMs + 1000;
  const serverOptions = {
    requestTimeout,
    // Node throws when this is longer than requestTimeout.
    headersTimeout: Math.min(options.headersTimeoutMs, requestTimeout),
    connectionsCheckingInterval: 1000,
    requireHostHeader: false,
    ServerResponse: Answer,
    ...(options.keepAliveMs !== undefined && { keepAliveTimeout: options.keepAliveMs }),
    ...(tls !== undefined && { ...tlsOptions(tls), handshakeTimeout: options.headersTimeoutMs }),
  };
  const answer = getRequestListener(
    (request, bindings) => {
      const response = options.fetch(
        request,
        bindings as { incoming: IncomingMessage; outgoing: ServerResponse },
      );
      if (request.method !== 'HEAD') return response;
      // The copy that Hono makes for HEAD loses the mark of an answer that is already written.
      return Promise.resolve(response).then((copy) =>
        bindings.outgoing.headersSent ? RESPONSE_ALREADY_SENT : copy,
      );
    },
    { hostname: 'localhost', errorHandler: refuseRequest },
  );
  const serve = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    // A refused connection is read further, so that the client receives the refusal.
    if (!incoming.socket.writable) {
      incoming.resume();
      return;
    }
    const refused = options.refusal?.(incoming);
    if (refused === undefined) {
      void answer(incoming, outgoing);
      return;
    }
    setTimeout(() => {
      outgoing.writeHead(500, refused.headers).end(refused.body);
    }, refusalPauseMs);
  };
  const server: Server =
    tls === undefined
      ? createHttpServer(serverOptions, serve)
      : createHttpsServer(serverOptions, serve);
  server.on('clientError', refuseConnection);
  // RFC 9110 section 10.1.1 lets a server ignore an unknown expectation.
  server.on('checkExpectation', serve);
  if (options.maxConnections !== undefined) {
    server.maxConnections = options.maxConnections;
    // Makes room by closing idle connections; not for each dropped one, because looking takes time.
    let looking = false;
    server.on('drop', () => {
      if (looking) return;
      looking = true;
      setTimeout(() => {
        looking = false;
        server.closeIdleConnections();
      }, makeRoomMs).unref();
    });
  }
  const sockets = endUnreadAnswers(
    server,
    tls === undefined ? 'connection' : 'secureConnection',
    options.requestTimeoutMs,
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: maxUnaccepted }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    url: urlOf(server, host, tls !== undefined),
    sayGoodbye: () => {
      leaving = true;
    },
    drain: () =>
      new Promise((resolve) => {
        leaving = true;
        server.close(() => {
          sockets.close();
          resolve();
        });
        server.closeIdleConnections();
        // Node takes a connection without any data yet for one with a request.
        for (const socket of sockets.all) if (socket.bytesRead === 0) socket.destroy();
      }),
    cut: () => server.closeAllConnections(),
  };
};
