/**
 * MSS_ProfileReq: lists the devices and profiles with which a mobile user can sign.
 *
 * A user for whom no profile works (unknown, blocked, suspended, not activated) is answered with
 * the fault that a signature request would end with. When one device works and another does not,
 * the list says which profiles work.
 *
 * For a user of another service that service is asked, and its answer is passed on.
 *
 * Source: interface sections 2.4 and 4.4.
 */
import { subjectDn } from '../../packages/pki/src/certificate.ts';
import { fault, refuse } from '../../packages/protocol/src/fault.ts';
import { faultFor, profilesOf } from '../registry/profile-selection.ts';
import { commonUpstreamOf, type Sscd, type Subscriber } from '../registry/subscriber.ts';
import { testFault } from '../transactions/eligibility.ts';
import {
  answer,
  createOperation,
  faultAnswer,
  type OperationDeps,
  type OperationHandler,
} from './operation.ts';
import { presentProfile, presentUpstreamProfile } from './present.ts';

/** Profiles are listed in the dialect of MSSP_ID.URI, because the request names no profile. */
const dialectOf = (msspUri: string, authorities: readonly string[]): string => {
  const host = URL.canParse(msspUri) ? new URL(msspUri).host : '';
  return authorities.find((authority) => authority === host) ?? authorities[0] ?? host;
};

export const createProfile = ({
  protocol,
  providers,
  subscribers,
  custody,
  authorities,
  services,
  now,
}: OperationDeps): OperationHandler => {
  const chainsOf = async ({ msisdn }: Subscriber, sscd: Sscd) => {
    const { id: sscdId, algorithm, certificateExpired: expired, certificates: ids } = sscd;
    const chains =
      ids === undefined
        ? [(await custody.userKey({ msisdn, sscdId, algorithm, expired })).chain]
        : await Promise.all(ids.map(custody.chain));
    const views = chains
      .filter((chain) => chain !== undefined)
      .map(({ certificates: [user, issuing, ...above] }) =>
        // A cross-certificate before the root is left out.
        [user, issuing, ...above.slice(-1)].map((der) => ({
          base64: Buffer.from(der).toString('base64'),
          subject: subjectDn(der),
        })),
      );
    return [sscdId, views] as const;
  };

  return createOperation({
    parse: protocol.parseProfile,
    callerOf: (request) => request,
    providers,
    serve: async ({ caller, msisdn, params }, { trace }) => {
      // When the store is away, the last known states are used.
      await custody.refresh().catch(() => undefined);
      const subscriber = await subscribers.find(msisdn.number);
      if (subscriber === undefined) return faultAnswer(fault(105), trace);
      const authority = dialectOf(caller.msspUri, authorities);
      const upstream = commonUpstreamOf(subscriber);
      if (upstream !== undefined) {
        const about = { msisdn: msisdn.number, params, apId: caller.apId };
        const told = (await services.askProfile(upstream, about)) ?? refuse(900);
        if (!told.ok) return faultAnswer(told.fault, trace);
        return answer(presentUpstreamProfile(caller, { authority, ...told.value }, now()), trace);
      }
      const profiles = profilesOf(subscriber);
      const refused =
        testFault(subscriber) ??
        (profiles.length === 0 ? faultFor(subscriber, 'Any-LoA4') : undefined);
      if (refused !== undefined) return faultAnswer(refused, trace);
      const { sim, apps } = subscriber;
      const certified = params.has('certs') ? [...(sim === undefined ? [] : [sim]), ...apps] : [];
      const view = {
        authority,
        profiles,
        subscriber,
        params,
        chains: new Map(await Promise.all(certified.map((sscd) => chainsOf(subscriber, sscd)))),
      };
      return answer(presentProfile(caller, view, now()), trace);
    },
  });
};
