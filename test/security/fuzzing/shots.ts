/**
 * HTTP messages around bodies: odd headers, lengths that are wrong, chunks, requests that come in
 * pieces or never end.
 *
 * A shot is bytes for one connection. Most are valid HTTP, since what is refused by the parser of
 * HTTP goes no further.
 */
import fc from 'fast-check';
import { bodies } from './bodies.ts';

export interface Shot {
  /** What is written, piece by piece. */
  readonly pieces: readonly Buffer[];
  /** The body alone, for whoever wants to know what was asked. */
  readonly body: Buffer;
  /** The sender closes its side when it has written all. */
  readonly hangUp: boolean;
}

/** Puts a body into a message: headers about its length, and the body as it is sent. */
interface Framing {
  readonly headers: (body: Buffer) => readonly string[];
  readonly frame: (body: Buffer) => Buffer;
}

const asIs = (body: Buffer): Buffer => body;
const lengthOf = (body: Buffer, more = 0): string =>
  `Content-Length: ${Math.max(body.length + more, 0)}`;
const announced = { headers: (body: Buffer) => [lengthOf(body)], frame: asIs };

const chunked = (size: number, extension: string, end: string) => (body: Buffer) => {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    parts.push(
      Buffer.from(`${part.length.toString(16)}${extension}\r\n`),
      part,
      Buffer.from('\r\n'),
    );
  }
  return Buffer.concat([...parts, Buffer.from(end)]);
};

const framing: fc.Arbitrary<Framing> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Framing>(announced) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.integer({ min: 40, max: 5000 }),
        fc.constantFrom('', ';a=b', ' ;x="y"'),
        fc.constantFrom('0\r\n\r\n', '0\r\nX-Trailer: a\r\n\r\n', '000;z\r\n\r\n'),
      )
      .map(
        ([size, extension, end]): Framing => ({
          headers: () => ['Transfer-Encoding: chunked'],
          frame: chunked(size, extension, end),
        }),
      ),
  },
  fc.constantFrom<Framing>(
    { headers: (body) => [lengthOf(body, 7)], frame: asIs },
    { headers: () => ['Content-Length: 9999999999999'], frame: asIs },
    { headers: () => ['Transfer-Encoding: chunked'], frame: chunked(100, '', '') },
    { headers: (body) => [lengthOf(body, -7)], frame: asIs },
    { headers: () => [], frame: asIs },
    { headers: (body) => [lengthOf(body), 'Transfer-Encoding: chunked'], frame: asIs },
    { headers: (body) => [lengthOf(body), lengthOf(body, 1)], frame: asIs },
    {
      headers: () => ['Transfer-Encoding: gzip, chunked'],
      frame: chunked(64, '', '0\r\n\r\n'),
    },
    { headers: () => ['Transfer-Encoding: chunked'], frame: asIs },
    { headers: () => ['Content-Length: 1e3'], frame: asIs },
    { headers: () => ['Content-Length: -1'], frame: asIs },
    { headers: () => ['Content-Length: 0x10'], frame: asIs },
  ),
);

const paths = fc.oneof(
  { weight: 12, arbitrary: fc.constant('/rest/service') },
  {
    weight: 6,
    arbitrary: fc
      .constantFrom('sign', 'status', 'receipt', 'profile')
      .map((op) => `/rest/service/${op}`),
  },
  fc.constantFrom(
    ...[
      '/rest/service/',
      '/rest/service?x=%',
      '/rest/service/sign?a=b#c',
      '/rest',
      '/rest/../rest/service/sign',
    ],
    ...[
      '/rest/service/%73ign',
      '/rest/service/%ff',
      '//rest/service',
      '/rest/service/sign/..',
      'http://x/rest/service',
    ],
    ...[
      '/rest/service/constructor',
      '/rest/service;a=b',
      `/rest/service/${'a'.repeat(2000)}`,
      '/rest/service/sign%00',
    ],
  ),
);

const methods = fc.oneof(
  { weight: 30, arbitrary: fc.constant('POST') },
  fc.constantFrom(
    'GET',
    'PUT',
    'DELETE',
    'PATCH',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'QUERY',
    'post',
    'POſT',
    'X',
  ),
);

const types = fc.oneof(
  { weight: 20, arbitrary: fc.constant<readonly string[]>(['Content-Type: application/json']) },
  fc.constantFrom<readonly string[]>(
    ...[
      'application/json;charset=UTF-8',
      'APPLICATION/JSON ; charset="utf-8"',
      'application/json;;;',
      'text/json',
    ].map((type) => [`Content-Type: ${type}`]),
    ...[
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/json; charset=utf-7',
      '*/*',
      ';',
      '',
    ].map((type) => [`Content-Type: ${type}`]),
    ['Content-Type: application/json', 'Content-Type: text/plain'],
    [],
  ),
);

const token = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,20}$/);
const oddHeaders = fc.oneof(
  fc.constantFrom(
    ...[
      'Expect: 100-continue',
      'Expect: nothing',
      'Upgrade: websocket',
      'Connection: upgrade',
      'Connection: close',
    ],
    ...[
      'Connection: keep-alive, foo',
      'Content-Encoding: gzip',
      'Content-Encoding: br, gzip',
      'Accept: image/png',
    ],
    ...[
      'Accept-Encoding: gzip;q=1.0, *;q=0',
      'Cookie: a=b; c',
      'Authorization: Basic Og==',
      'Host: other',
      'Host: a b',
    ],
    ...[
      'X-Forwarded-For: 127.0.0.1',
      'X-Client-Certificate: ',
      'X-Client-Certificate: Hash=00',
      'Origin: null',
    ],
    ...[
      'X-HTTP-Method-Override: DELETE',
      'Range: bytes=0-1',
      'If-Match: *',
      'TE: trailers',
      'Trailer: Host',
      'Via: 1.1 x',
    ],
    ...[
      'Forwarded: for="[::1]"',
      'Content-Length: 3',
      'Content-MD5: x',
      'Max-Forwards: -1',
      'X:',
      'X-A: \x80\xff',
      'x: \t',
    ],
    ...[
      '__proto__: x',
      'constructor: x',
      `X-Big: ${'x'.repeat(12_000)}`,
      'Keep-Alive: timeout=999999',
      'X-A : b',
      ' folded',
    ],
  ),
  fc
    .tuple(token, fc.string({ unit: 'grapheme-ascii', maxLength: 40 }))
    .map(([key, text]) => `${key}: ${text}`),
);
const headers = fc.oneof(
  { weight: 3, arbitrary: fc.constant<readonly string[]>([]) },
  { weight: 1, arbitrary: fc.array(oddHeaders, { maxLength: 3 }) },
);

const versions = fc.oneof(
  { weight: 30, arbitrary: fc.constant('HTTP/1.1') },
  fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.1 '),
);

/** Where a message is cut into pieces; most arrive in one. */
const cuts = fc.oneof(
  { weight: 3, arbitrary: fc.constant<readonly number[]>([]) },
  { weight: 1, arbitrary: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }) },
);

const seldom = fc.integer({ min: 0, max: 4 }).map((drawn) => drawn === 4);

const cut = (bytes: Buffer, at: readonly number[]): readonly Buffer[] => {
  const places = [0, ...at.map((place) => place % bytes.length), bytes.length].toSorted(
    (a, b) => a - b,
  );
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
};

interface Drawn {
  readonly body: Buffer;
  readonly framing: Framing;
  readonly path: string;
  readonly method: string;
  readonly type: readonly string[];
  readonly headers: readonly string[];
  readonly version: string;
  readonly cuts: readonly number[];
  readonly hangUp: boolean;
}

const shotOf = (drawn: Drawn): Shot => {
  const { body, framing: around, path, method, version, hangUp } = drawn;
  const lines = [
    `${method} ${path} ${version}`,
    'Host: test',
    ...drawn.type,
    ...around.headers(body),
    ...drawn.headers,
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return { pieces: cut(Buffer.concat([head, around.frame(body)]), drawn.cuts), body, hangUp };
};

/** HTTP as it should be. */
const plain: Omit<Drawn, 'body'> = {
  framing: announced,
  path: '/rest/service',
  method: 'POST',
  type: ['Content-Type: application/json'],
  headers: [],
  version: 'HTTP/1.1',
  cuts: [],
  hangUp: false,
};

/**
 * More than half are plain HTTP, in which only the body is spoiled: everything else is refused
 * before anybody reads it.
 */
export const shots = (requests: readonly object[]): fc.Arbitrary<Shot> =>
  fc.oneof(
    { weight: 3, arbitrary: bodies(requests).map((body) => shotOf({ ...plain, body })) },
    {
      weight: 2,
      arbitrary: fc
        .record({
          body: bodies(requests),
          framing,
          path: paths,
          method: methods,
          type: types,
          headers,
          version: versions,
          cuts,
          hangUp: seldom,
        })
        .map(shotOf),
    },
  );
