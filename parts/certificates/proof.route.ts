/**
 * The proof of a signature: the signature with a time stamp and lists of revoked certificates, so
 * that it can be verified after its certificate has expired. It is made on request, for the
 * application that owns the transaction. Transactions of others and unknown ones get the same
 * answer.
 */
import { Hono } from 'hono';
import { bytesToSign } from '../../packages/protocol/src/requests.ts';
import { json, type Refusal } from '../../src/http/application-refusals.ts';
import {
  type ApplicationRouteOptions,
  createApplicationRoute,
  readNothing,
} from '../../src/http/application-route.ts';
import type { HttpEnvironment } from '../../src/http/body.ts';
import type { TransactionView } from '../../src/transactions/outcomes.ts';
import type { LongTermSignature } from './long-term.ts';

const unknown: Refusal = [404, 'not-found', 'There is no such transaction', 101];
const noStamp: Refusal = [
  503,
  'no-time-stamp',
  'No time stamp could be made: try again later',
  900,
];
const tooLate: Readonly<Record<NonNullable<LongTermSignature['tooLate']>, Refusal>> = {
  CERTIFICATE_EXPIRED: [409, 'too-late', 'The certificate of the signature was over before', 422],
  CERTIFICATE_REVOKED: [
    409,
    'too-late',
    'The certificate of the signature was revoked before',
    422,
  ],
};
const unsigned: Refusal = [409, 'no-signature', 'The transaction has no signature', 101];

export interface ProofRoutesOptions extends ApplicationRouteOptions {
  /** Finds a transaction of this application (`createTransactions`). */
  readonly findOwn: (apId: string, msspTransId: string) => Promise<TransactionView | undefined>;
  readonly longTerm: (cms: Uint8Array, signedData: Uint8Array) => Promise<LongTermSignature>;
}

export const createProofRoutes = ({ findOwn, longTerm, ...options }: ProofRoutesOptions) => {
  const { serve } = createApplicationRoute(options);
  const routes = new Hono<HttpEnvironment>();
  routes.get('/pki/evidence/:id', (c) =>
    serve(c, '/pki/evidence/{id}', 'status', readNothing, async (apId) => {
      const id = c.req.param('id');
      const view = await findOwn(apId, id);
      if (view === undefined) return unknown;
      const { state } = view;
      if (state.kind !== 'signed' || state.signed.signature === undefined) return unsigned;
      const cms = Buffer.from(state.signed.signature, 'base64');
      const made = await longTerm(cms, bytesToSign(view.request.data)).catch((error: Error) => {
        options.log.trouble(error);
        return undefined;
      });
      if (made === undefined) return noStamp;
      if (made.tooLate !== undefined) return tooLate[made.tooLate];
      const { signature, timeStamp } = made;
      return json({
        msspTransId: id,
        signature: Buffer.from(signature).toString('base64'),
        timeStamp: timeStamp.toISOString(),
      });
    }),
  );
  return routes;
};
