/**
 * A client that logs people in without a browser, written against the specification and nothing of
 * ours.
 */
import { randomUUID } from 'node:crypto';
import { type Answer, keyOfClient } from '../../../test/oauth/interoperability/stage.ts';
import type { TestProduct } from '../../../test/support/product.ts';
import type { BackchannelLogin } from '../records.ts';

export interface CibaClient {
  /** The entry in `oidc.tenants[].clients`. */
  readonly entry: Record<string, unknown>;
  /** `POST …/backchannel`. */
  ask(product: TestProduct, parameters: Record<string, string>): Promise<Answer>;
  /** `POST …/token`. */
  poll(product: TestProduct, authReqId: string): Promise<Answer>;
  /** Polls until there is a result. */
  outcome(product: TestProduct, authReqId: string): Promise<Answer>;
}

const cibaGrant = 'urn:openid:params:grant-type:ciba';
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export const issuerOf = ({ configuration, url }: TestProduct): string =>
  `${configuration.publicUrl ?? url}/oidc`;

export const createCibaClient = (
  id: string,
  overrides: Record<string, unknown> = {},
): CibaClient => {
  const key = keyOfClient(`${id}-key`);

  const post = async (
    product: TestProduct,
    path: string,
    parameters: Record<string, string>,
  ): Promise<Answer> => {
    const assertion = await key.sign(id, issuerOf(product), { sub: id, jti: randomUUID() });
    const response = await fetch(`${product.url}/oidc${path}`, {
      method: 'POST',
      body: new URLSearchParams({
        client_id: id,
        client_assertion_type: assertionType,
        client_assertion: assertion,
        ...parameters,
      }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };

  const poll: CibaClient['poll'] = (product, authReqId) =>
    post(product, '/token', { grant_type: cibaGrant, auth_req_id: authReqId });

  return {
    entry: {
      id,
      name: 'Till 7',
      authentication: 'private_key_jwt',
      keys: [key.publicJwk],
      scopes: ['openid', 'phone'],
      loginHintAllowed: true,
      idTokenAlgorithm: 'ES256',
      backchannel: { kind: 'poll' },
      ...overrides,
    },
    ask: (product, parameters) => post(product, '/backchannel', { scope: 'openid', ...parameters }),
    poll,
    outcome: async (product, authReqId) => {
      for (;;) {
        const answer = await poll(product, authReqId);
        if (answer.body.error !== 'authorization_pending' && answer.body.error !== 'slow_down')
          return answer;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    },
  };
};

/** So many requests that no test meets a limit by accident. */
const plenty = { requests: 100_000, perSeconds: 1 };

const subscriber = (msisdn: string, thinkSeconds: number) => ({
  msisdn,
  sim: { device: { kind: 'robot', thinkSeconds } },
});

/** Beside the test users somebody who signs a second later, and somebody who never does. */
export const configurationFor = (
  clients: readonly CibaClient[],
  more: Record<string, unknown> = {},
): Record<string, unknown> => ({
  subscribers: [subscriber('+41790000001', 300), subscriber('+41790000002', 1)],
  oidc: {
    limits: {
      pushedPerClient: plenty,
      promptsPerNumber: plenty,
      promptsPerClient: plenty,
      refusedTokensPerAddress: plenty,
    },
    tenants: [{ id: 'default', name: 'Paraph', clients: clients.map(({ entry }) => entry) }],
    ...more,
  },
});

export const loginOf = async (product: TestProduct, authReqId: string): Promise<BackchannelLogin> =>
  (await product.api.oauth.tenants.main.store.get('backchannel', authReqId)) as BackchannelLogin;

export const transactionOf = async (product: TestProduct, authReqId: string) => {
  const { started } = await loginOf(product, authReqId);
  const view = await product.api.transactions.find(started?.msspTransId ?? '');
  if (view === undefined) throw new Error('There is no transaction');
  return view;
};

/** Resolves when the phone has answered, whether or not anybody has asked for the result. */
export const answered = async (product: TestProduct, authReqId: string): Promise<void> => {
  while ((await transactionOf(product, authReqId)).state.kind === 'open') {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
