/**
 * MSS_ProfileReq: what a mobile user can sign with.
 *
 * A user who cannot be asked (unknown, blocked, suspended, not activated) is answered with the
 * fault that a signature request would end with.
 *
 * Source: interface sections 2.4 and 4.4.
 */
import { subjectDn } from '../pki/certificate.ts';
import type { KeyCustody } from '../pki/ports.ts';
import { type Fault, fault } from '../protocol/fault.ts';
import type { ProfileParam, ProfileRequest } from '../protocol/requests.ts';
import { chooseMethod, profilesOf, sscdFault } from '../registry/profile-selection.ts';
import type { Sscd, Subscriber } from '../registry/subscriber.ts';
import { testFault } from '../transactions/eligibility.ts';
import {
  answer,
  createOperation,
  faultAnswer,
  type OperationDeps,
  type OperationHandler,
} from './operation.ts';
import { type ProfileView, presentProfile, type SscdView } from './present.ts';

/** For a card of an unknown network. */
const unknownCarrier = { mcc: '000', mnc: '00', network: 'Unknown network' };

const sscdView = async (
  custody: KeyCustody,
  subscriber: Subscriber,
  sscd: Sscd,
  params: ReadonlySet<ProfileParam>,
): Promise<SscdView> => ({
  cardDetails:
    params.has('carddetails') && sscd.kind === 'sim' ? (subscriber.carrier ?? unknownCarrier) : undefined,
  certificates: params.has('certs') ? await certificatesView(custody, subscriber, sscd) : undefined,
  pinBlocked: params.has('pinstatus') ? sscd.pinBlocked : undefined,
  state: params.has('state') ? sscd.state : undefined,
});

const certificatesView = async (custody: KeyCustody, { msisdn }: Subscriber, sscd: Sscd) => {
  const { chain } = await custody.userKey({
    msisdn,
    sscdId: sscd.id,
    algorithm: sscd.algorithm,
    expired: sscd.certificateExpired,
  });
  return {
    algorithm: sscd.algorithm,
    state: sscd.certificateState,
    chain: chain.certificates.map((certificate) => Buffer.from(certificate).toString('base64')),
    subjectNames: chain.certificates.map(subjectDn),
  };
};

/** Why this user cannot sign at all. */
const userFault = (subscriber: Subscriber): Fault | undefined => {
  const chosen = chooseMethod(subscriber, 'Any-LoA4');
  if (!chosen.ok) return chosen.fault;
  return chosen.value.sscd === undefined ? undefined : sscdFault(chosen.value.sscd);
};

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
  now,
}: OperationDeps): OperationHandler => {
  const viewOf = async ({ caller, params }: ProfileRequest, subscriber: Subscriber): Promise<ProfileView> => {
    const wantsSscds = params.has('sscds');
    const { sim, apps } = subscriber;
    return {
      authority: dialectOf(caller.msspUri, authorities),
      profiles: profilesOf(subscriber),
      autoActivation: params.has('aastatus') ? subscriber.autoActivation : undefined,
      recoveryCodeCreated: params.has('rcstatus') ? subscriber.recoveryCodeCreated : undefined,
      sim: wantsSscds && sim !== undefined ? await sscdView(custody, subscriber, sim, params) : undefined,
      apps: wantsSscds
        ? await Promise.all(apps.map((app) => sscdView(custody, subscriber, app, params)))
        : [],
      wantsSscds,
    };
  };

  return createOperation({
    parse: protocol.parseProfile,
    callerOf: (request) => request,
    providers,
    serve: async (request, { trace }) => {
      const subscriber = subscribers.find(request.msisdn.number);
      if (subscriber === undefined) return faultAnswer(fault(105), trace);
      const refused = testFault(subscriber) ?? userFault(subscriber);
      if (refused !== undefined) return faultAnswer(refused, trace);
      return answer(presentProfile(request.caller, await viewOf(request, subscriber), now()), trace);
    },
  });
};
