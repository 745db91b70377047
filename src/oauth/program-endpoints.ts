/**
 * What programs send to the library's endpoints, checked before the library sees it: who the client
 * is, and whether its DPoP proof is good and new. The library has rules of its own for both, with
 * other tolerances; so one request would be taken at `/token` and refused at `/par`.
 *
 * Source: RFC 6749 2.3, RFC 9449 5 and 7.1.
 */
import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import { readBody } from '../http/pages/request-body.ts';
import { authenticatedPaths } from './client-authentication.ts';
import type { OauthDeps, OauthEnvironment } from './deps.ts';
import { dpopAlgorithms, isFirstUse, readProof } from './dpop-proof.ts';
import { isUsedBy } from './extension.ts';
import { createIdentify } from './identify.ts';
import { handOver } from './mount.ts';
import { type Asker, createRefusalAnswers, headersOf, present } from './par/answers.ts';
import type { ParRefusal } from './par/refusal.ts';
import type { Tenant } from './tenant.ts';

type Options = Pick<
  OauthDeps,
  'checkSecret' | 'limits' | 'extensions' | 'addressOf' | 'body' | 'now' | 'log'
>;

export const createProgramEndpoints = (options: Options) => {
  const { extensions = [], addressOf, body: bodyLimits, now } = options;
  const paths = authenticatedPaths(extensions);
  const identify = createIdentify(options);
  const answerRefusal = createRefusalAnswers(options);
  const refuse = (refusal: ParRefusal, asker: Asker): Response =>
    present(answerRefusal(refusal, asker));

  /** The library says of an endpoint that a tenant does not have that it is not there. */
  const authenticates = (tenant: Tenant, path: string): boolean => {
    const extension = extensions.find(({ endpoints }) => endpoints.includes(path));
    return extension === undefined ? paths.includes(path) : isUsedBy(extension, tenant);
  };

  const findProofError = async (
    proof: string | undefined,
    { tenant }: Asker,
    path: string,
    method: string,
  ): Promise<ParRefusal | undefined> => {
    if (proof === undefined) return undefined;
    const read = await readProof(proof, { method, url: `${tenant.issuer}${path}` }, now());
    if ('refusal' in read) return read.refusal;
    return (await isFirstUse(tenant, read.value, now())) ? undefined : { reason: 'proofReplayed' };
  };

  /**
   * @param path Below the issuer.
   * @returns The request that the library may see, or the answer to one that it may not.
   */
  return async (
    c: Context<OauthEnvironment>,
    tenant: Tenant,
    path: string,
    incoming: IncomingMessage,
  ): Promise<IncomingMessage | Response> => {
    const { method } = c.req;
    const header = headersOf(c.req, incoming);
    const asker: Asker = { tenant, origin: header('origin') };
    if (path === '/userinfo' && method !== 'OPTIONS') {
      const refusal = await findProofError(header('dpop'), asker, path, method);
      if (refusal === undefined) return incoming;
      const error = `error="invalid_dpop_proof", algs="${dpopAlgorithms.join(' ')}"`;
      return refuse(refusal, { ...asker, challenge: `DPoP realm="${tenant.issuer}", ${error}` });
    }
    if (!authenticates(tenant, path) || method !== 'POST') return incoming;
    const address = addressOf(incoming);
    const read = await readBody(c.req.raw, incoming, bodyLimits);
    if (!read.ok) return refuse({ reason: read.reason }, asker);
    const identified = await identify(tenant, { header, address, body: read.bytes });
    if ('refusal' in identified)
      return refuse(identified.refusal, { ...asker, ...identified.about });
    const { form, client } = identified;
    if (path === '/token') {
      const refusal = await findProofError(header('dpop'), asker, path, method);
      if (refusal !== undefined) return refuse(refusal, { ...asker, client });
    }
    const handed = handOver(incoming, form, client);
    // Before its headers are replaced: the address of a request is found once.
    addressOf(handed);
    return handed;
  };
};
