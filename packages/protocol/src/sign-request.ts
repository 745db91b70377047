/**
 * The sign request in its two inner forms: the stored one, and the one that the program uses.
 *
 * The stored form has the names of the wire, because other services write it, too, but only members
 * that decide the transaction: no AP_PWD, no MSSP_Info.Instant, no unknown member, no null. Members
 * have a fixed order, so equal requests have equal hashes.
 */
import { readApproval } from './approval.ts';
import type {
  AdditionalServices,
  Caller,
  DataToBeSigned,
  GeofencingPolicy,
  Msisdn,
  SignatureRequest,
} from './requests.ts';
import type { ProtocolRules } from './rules.ts';
import type { CheckedSignatureReq } from './schemas/sign.ts';
import { profilesByUri, servicesByUri } from './uris.ts';

type CheckedService = CheckedSignatureReq['AdditionalServices'][number];
type CheckedPolicy = NonNullable<CheckedService['GeoFencingRequest']>;

/** The caller. An empty password counts as none, because some clients write every member. */
export const callerOf = ({
  AP_Info,
  MSSP_Info,
}: Pick<CheckedSignatureReq, 'AP_Info' | 'MSSP_Info'>): Caller => ({
  apId: AP_Info.AP_ID,
  apPassword: AP_Info.AP_PWD || undefined,
  apTransId: AP_Info.AP_TransID,
  instant: AP_Info.Instant,
  msspUri: MSSP_Info.MSSP_ID.URI,
});

export const msisdnOf = ({ MSISDN }: { readonly MSISDN: string }): Msisdn => ({
  written: MSISDN,
  number: MSISDN.startsWith('+') ? MSISDN.slice(1) : MSISDN,
});

/** Removes bounds that are null, which count as absent. */
const withoutNulls = (policy: CheckedPolicy): CheckedPolicy =>
  Object.fromEntries(
    Object.entries(policy).filter(([, bound]) => bound !== null && bound !== undefined),
  );

/** A bound as a number; undefined for 0, which clients in use send for no bound. */
const bound = (value: string | number | null | undefined): number | undefined =>
  Number(value ?? 0) || undefined;

const policyOf = (policy: CheckedPolicy): GeofencingPolicy => ({
  countryWhitelist: policy.countrywhitelist?.map((country) => country.toUpperCase()) ?? [],
  countryBlacklist: policy.countryblacklist?.map((country) => country.toUpperCase()) ?? [],
  minDeviceConfidence: bound(policy.mindeviceconfidence),
  minLocationConfidence: bound(policy.minlocationconfidence),
  maxTimestampMinutes: bound(policy.maxtimestampminutes),
  maxAccuracyMeters: bound(policy.maxaccuracymeters),
});

const dataOf = ({ MimeType, Data }: CheckedSignatureReq['DataToBeSigned']): DataToBeSigned => {
  if (MimeType === 'text/plain') return { kind: 'text', text: Data };
  const read = readApproval(Data);
  if ('error' in read) throw new Error('An approval that was checked can no longer be read');
  return { kind: 'transaction-approval', text: read.title, dtbd: read.dtbd };
};

/** Reads requests that passed the sign schema of the same rules. */
export const createSignRequestReader = ({ authorities }: ProtocolRules) => {
  const profiles = profilesByUri(authorities);
  const services = servicesByUri(authorities);

  const storedService = ({ Description, UserLang, App2App, GeoFencingRequest }: CheckedService) => {
    const name = services.get(Description);
    if (name === 'userLang' && UserLang) return { Description, UserLang };
    if (name === 'app2app' && App2App) return { Description, App2App };
    if (name === 'geofencing' && GeoFencingRequest) {
      return { Description, GeoFencingRequest: withoutNulls(GeoFencingRequest) };
    }
    return { Description };
  };

  const serviceOf = (service: CheckedService): AdditionalServices => {
    const { Description: uri, UserLang, App2App, GeoFencingRequest } = service;
    const name = services.get(uri);
    switch (name) {
      case 'userLang':
        return UserLang ? { userLang: { uri, language: UserLang.Value.toLowerCase() } } : {};
      case 'geofencing':
        return {
          geofencing: { uri, policy: GeoFencingRequest ? policyOf(GeoFencingRequest) : undefined },
        };
      case 'app2app':
        return App2App ? { app2app: { uri, redirectUri: App2App.RedirectUri } } : {};
      case 'subscriberInfo':
        return { subscriberInfo: { uri } };
      case 'validate':
        return { validate: { uri } };
      case undefined:
        return {};
    }
  };

  return {
    stored: (checked: CheckedSignatureReq) => ({
      MajorVersion: checked.MajorVersion,
      MinorVersion: checked.MinorVersion,
      AP_Info: {
        AP_ID: checked.AP_Info.AP_ID,
        AP_TransID: checked.AP_Info.AP_TransID,
        Instant: checked.AP_Info.Instant,
      },
      MSSP_Info: { MSSP_ID: checked.MSSP_Info.MSSP_ID },
      MobileUser: checked.MobileUser,
      MessagingMode: checked.MessagingMode,
      SignatureProfile: checked.SignatureProfile,
      TimeOut: checked.TimeOut,
      DataToBeSigned: checked.DataToBeSigned,
      AdditionalServices: checked.AdditionalServices.map(storedService),
    }),

    request: (checked: CheckedSignatureReq): SignatureRequest => {
      const profile = profiles.get(checked.SignatureProfile);
      if (profile === undefined) throw new Error('A profile that was checked is not known');
      return {
        caller: callerOf(checked),
        msisdn: msisdnOf(checked.MobileUser),
        messagingMode: checked.MessagingMode,
        profile,
        timeoutSeconds: Number(checked.TimeOut),
        data: dataOf(checked.DataToBeSigned),
        services: Object.assign(
          {},
          ...checked.AdditionalServices.map(serviceOf),
        ) as AdditionalServices,
      };
    },
  };
};

/** The stored form of a sign request: plain JSON. */
export type MssSignatureReq = Readonly<
  ReturnType<ReturnType<typeof createSignRequestReader>['stored']>
>;
