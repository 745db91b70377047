/** Where the endpoint is, and what other clients find out about it. */
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  clientEntry,
  hintFor,
  keyOfClient,
  robot,
  startProvider,
} from '../../../test/oauth/interoperability/stage.ts';
import type { TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';

const redis = testRedis();
const key = keyOfClient('one');
const keyed = { authentication: 'private_key_jwt', keys: [key.publicJwk] };
const cibaGrant = 'urn:openid:params:grant-type:ciba';
let product: TestProduct;

/** Only the first of the two tenants has a client without a browser. */
beforeAll(async () => {
  product = await startProvider(redis, [], {
    tenants: [
      {
        id: 'main',
        name: 'Main',
        clients: [
          clientEntry('shop'),
          clientEntry('till', { ...keyed, backchannel: { kind: 'poll' } }),
          clientEntry('kiosk', {
            ...keyed,
            backchannel: { kind: 'ping', notificationEndpoint: 'https://kiosk.example/ping' },
          }),
        ],
      },
      { id: 'south', name: 'South', clients: [clientEntry('shop'), clientEntry('app', keyed)] },
    ],
  });
});
afterAll(() => product.stop());

const discover = async (path: string) => {
  const response = await fetch(`${product.url}${path}/.well-known/openid-configuration`);
  return response.json();
};

describe('a tenant with clients without a browser', () => {
  it('says in its discovery document where it is, and no more than it does', async () => {
    expect(await discover('/oidc')).toMatchObject({
      backchannel_authentication_endpoint: `${product.url}/oidc/backchannel`,
      backchannel_token_delivery_modes_supported: ['poll', 'ping'],
      backchannel_user_code_parameter_supported: false,
      grant_types_supported: expect.arrayContaining([cibaGrant]),
    });
  });

  it('takes requests by POST alone', async () => {
    const response = await fetch(`${product.url}/oidc/backchannel`);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('counts requests under the name of the endpoint', async () => {
    await fetch(`${product.url}/oidc/backchannel`, { method: 'POST' });
    const metrics = await product.core.telemetry.registry.metrics();
    expect(metrics).toContain('route="/oidc/backchannel"');
  });

  it('logs in with openid-client, as it comes from the registry', async () => {
    const privateKey = {
      kid: 'one',
      key: await crypto.subtle.importKey(
        'pkcs8',
        key.privateKey.export({ format: 'der', type: 'pkcs8' }),
        { name: 'ECDSA', namedCurve: 'P-256' },
        false,
        ['sign'],
      ),
    };
    const configuration = await oidc.discovery(
      new URL(`${product.url}/oidc`),
      'till',
      {},
      oidc.PrivateKeyJwt(privateKey),
      // Marked as deprecated to stand out; this is the local testing that it is for.
      { execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks] },
    );
    const begun = await oidc.initiateBackchannelAuthentication(configuration, {
      scope: 'openid phone',
      login_hint: hintFor(robot),
      binding_message: 'W4SCT',
    });
    expect(begun).toMatchObject({ auth_req_id: expect.any(String), interval: 5 });
    const tokens = await oidc.pollBackchannelAuthenticationGrant(configuration, begun);
    const claims = tokens.claims();
    expect(claims).toMatchObject({ aud: 'till', amr: ['mid_sim'] });
    const userinfo = await oidc.fetchUserInfo(
      configuration,
      tokens.access_token,
      claims?.sub ?? '',
    );
    expect(userinfo.phone_number).toBe(`+${robot}`);
    const metrics = await product.core.telemetry.registry.metrics();
    expect(metrics).toContain(`grant_type="${cibaGrant}"`);
  });
});

describe('a tenant without such clients', () => {
  it('does not speak of it in its discovery document', async () => {
    expect(JSON.stringify(await discover('/oidc/t/south'))).not.toMatch(/backchannel|ciba/);
  });

  it('answers with an error of the protocol, because it does not have the endpoint', async () => {
    const response = await fetch(`${product.url}/oidc/t/south/backchannel`, { method: 'POST' });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: 'not_found',
      error_description: expect.stringMatching(
        /^mid_req_1900_[\w-]{8} - there is no such endpoint$/,
      ),
    });
  });
});
