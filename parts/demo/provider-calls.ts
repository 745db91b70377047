/** The calls to the provider over HTTP. The pages show the real requests. */
import { Buffer } from 'node:buffer';
import { demoSecret } from './clients.ts';
import type { DemoClientId, Fields } from './login.ts';

/** Characters that are shown of a token or code: enough to recognise it, too few to use it. */
const shown = 10;

export const shortened = (secret: string): string =>
  secret.length <= 4 * shown
    ? `${secret.slice(0, 4)}…`
    : `${secret.slice(0, shown)}…${secret.slice(-shown / 2)} (${secret.length} characters)`;

const hidden = '••••••••';

const secretMembers: ReadonlySet<string> = new Set([
  'access_token',
  'id_token',
  'refresh_token',
  'code',
]);

/** The longest shown text. A signature with its certificates would fill pages. */
const longestText = 160;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The JSON value without secrets, and with long texts cut. */
export const presentable = (value: unknown, name = ''): unknown => {
  if (typeof value === 'string') {
    if (secretMembers.has(name)) return shortened(value);
    return value.length > longestText
      ? `${value.slice(0, longestText / 4)}… (${value.length} characters)`
      : value;
  }
  if (Array.isArray(value)) return value.map((element) => presentable(element));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, presentable(member, key)]),
  );
};

/** One call in the form for the page, without secrets. */
export interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly fields: Fields;
  readonly status: number;
  readonly answer: unknown;
}

export interface Answered {
  readonly status: number;
  /** The members of the JSON in the answer; empty for another body. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly exchange: Exchange;
}

/** A member of an answer; empty when it is not a text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const timeoutMs = 10_000;

const presentableField = (name: string, value: string): string => {
  if (name === 'code_verifier') return hidden;
  return name === 'code' ? shortened(value) : value;
};

const objectIn = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
};

/** RFC 6749 section 2.3.1; nothing in the id and the secret needs encoding. */
const basic = (clientId: string): string =>
  `Basic ${Buffer.from(`${clientId}:${demoSecret}`).toString('base64')}`;

/**
 * @param options.issuer The address that is shown.
 * @param options.selfUrl The address that is called: that of this server, because the host of the
 *   issuer may not be reachable from here.
 */
export const createProviderCalls = ({
  issuer,
  selfUrl,
  fetch,
}: {
  readonly issuer: () => string;
  readonly selfUrl: () => string;
  readonly fetch: typeof globalThis.fetch;
}) => {
  const call = async (
    method: Exchange['method'],
    path: string,
    headers: Fields,
    shownHeaders: Fields,
    fields: Fields,
  ): Promise<Answered> => {
    const response = await fetch(`${selfUrl()}/oidc${path}`, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(method === 'POST' && { body: new URLSearchParams(fields).toString() }),
    });
    const body = objectIn(await response.text());
    return {
      status: response.status,
      body,
      exchange: {
        method,
        url: `${issuer()}${path}`,
        headers: Object.entries({ ...headers, ...shownHeaders }),
        fields: Object.fromEntries(
          Object.entries(fields).map(([name, value]) => [name, presentableField(name, value)]),
        ),
        status: response.status,
        answer: presentable(body),
      },
    };
  };

  /** The public client has no secret: its id is in the form, and PKCE protects its code. */
  const post = (path: string, clientId: DemoClientId, fields: Fields): Promise<Answered> => {
    const isPublic = clientId === 'demo-public';
    return call(
      'POST',
      path,
      {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...(!isPublic && { Authorization: basic(clientId) }),
      },
      isPublic ? {} : { Authorization: `Basic base64(${clientId}:${hidden})` },
      isPublic ? { client_id: clientId, ...fields } : fields,
    );
  };

  return {
    push: (clientId: DemoClientId, fields: Fields) => post('/par', clientId, fields),
    redeem: (clientId: DemoClientId, fields: Fields) => post('/token', clientId, fields),
    userInfo: (accessToken: string) =>
      call(
        'GET',
        '/userinfo',
        { Authorization: `Bearer ${accessToken}` },
        { Authorization: `Bearer ${shortened(accessToken)}` },
        {},
      ),
  };
};
