import { type Checked, type Fault, fault, ok, refuse } from '../../packages/protocol/src/fault.ts';
import { type ProfileName, profileNames } from '../../packages/protocol/src/requests.ts';
import { type Location, type Sscd, type Subscriber, upstreamOf } from './subscriber.ts';

/**
 * Chooses the device that signs, from the requested profile and the devices of the subscriber.
 *
 * A device that is not active, or whose certificate is not active or has expired, counts only when
 * there is no other: then the answer is 404 or 422 (this user must activate) and not 105 (no such
 * user). Other states do not matter: a blocked PIN on the preferred SIM is an error for the user,
 * and no reason to choose the App.
 *
 * Source: interface section 2.1, SignatureProfile.
 */
export type Method =
  | { readonly method: 'sim' | 'app'; readonly sscd: Sscd; readonly answerProfile: ProfileName }
  | {
      readonly method: 'otp-text' | 'otp-flash';
      readonly sscd: undefined;
      readonly answerProfile: ProfileName;
    };

interface Devices {
  readonly sim: Sscd | undefined;
  readonly app: Sscd | undefined;
  readonly simLocation: Location | undefined;
}

const isActive = ({ state, certificateState, certificateExpired }: Sscd): boolean =>
  state === 'ACTIVE' && certificateState === 'ACTIVE' && !certificateExpired;

const devicesOf = ({ sim, apps, location }: Subscriber): Devices => {
  const all = sim === undefined ? apps : [sim, ...apps];
  const active = all.filter(isActive);
  const counting = active.length > 0 ? active : all;
  return {
    sim: counting.find(({ kind }) => kind === 'sim'),
    app: counting.find(({ kind }) => kind === 'app'),
    simLocation: location.sim,
  };
};

/**
 * Whether a device is at another service. Only that service knows its key and location, and refuses
 * requests that do not fit.
 */
const isElsewhere = (sscd: Sscd | undefined): boolean =>
  sscd !== undefined && upstreamOf(sscd) !== undefined;

const simWithKey = ({ sim }: Devices, algorithm: Sscd['algorithm']): Sscd | undefined =>
  sim?.algorithm === algorithm || isElsewhere(sim) ? sim : undefined;

/** A SIM whose network knows its location. An error of the location service is not a location. */
const locatableSim = ({ sim, simLocation }: Devices): Sscd | undefined =>
  (simLocation !== undefined && 'country' in simLocation) || isElsewhere(sim) ? sim : undefined;

const preferSim = ({ sim, app }: Devices): Sscd | undefined => sim ?? app;

/** The service of each profile: a text message, or the choice of a device that fits. */
const served: Readonly<
  Record<ProfileName, 'otp-text' | 'otp-flash' | ((devices: Devices) => Sscd | undefined)>
> = {
  'Any-LoA4': preferSim,
  'MID/v1/AuthProfile1': preferSim,
  'STK-LoA4': ({ sim }) => sim,
  'Device-LoA4': ({ app }) => app,
  'MID/v1/AuthProfile1.ECC': (devices) => simWithKey(devices, 'EC'),
  'MID/v1/AuthProfile1.RSA': (devices) => simWithKey(devices, 'RSA'),
  'Any-Geofencing-LoA4': (devices) => locatableSim(devices) ?? devices.app,
  'MID/v1/OtpProfileText': 'otp-text',
  'MID/v1/OtpProfileFlash': 'otp-flash',
};

/**
 * Chooses the method for a request.
 *
 * @param subscriber Undefined for an unknown number, which can only get one-time passwords.
 * @param withApp Only an App can serve the request (app2app).
 * @returns `answerProfile` names the chosen method, never `Any-*`. Fault 105 for an unknown number
 * or one without devices; 109 when no device serves the profile.
 */
export const chooseMethod = (
  subscriber: Subscriber | undefined,
  profile: ProfileName,
  withApp = false,
): Checked<Method> => {
  const by = served[profile];
  if (typeof by === 'string')
    return withApp ? refuse(109) : ok({ method: by, sscd: undefined, answerProfile: profile });
  if (subscriber === undefined) return refuse(105);
  const devices = devicesOf(subscriber);
  if (devices.sim === undefined && devices.app === undefined) return refuse(105);
  const sscd = by(withApp ? { ...devices, sim: undefined } : devices);
  // The answer needs the address that opens the App, before the other service is asked.
  if (sscd === undefined || (withApp && isElsewhere(sscd))) return refuse(109);
  return ok({
    method: sscd.kind,
    sscd,
    answerProfile: sscd.kind === 'sim' ? 'STK-LoA4' : 'Device-LoA4',
  });
};

/**
 * Profiles that are not listed. One-time passwords work for every number, and geofencing depends on
 * the location of the SIM. The live service lists neither.
 */
const unlisted: ReadonlySet<ProfileName> = new Set<ProfileName>([
  'Any-Geofencing-LoA4',
  'MID/v1/OtpProfileFlash',
  'MID/v1/OtpProfileText',
]);

/** The listed profiles in ASCII order, like live answers. */
const listed = profileNames.filter((name) => !unlisted.has(name)).toSorted();

/** The fault of a request for this profile; undefined when it would be accepted. */
export const faultFor = (subscriber: Subscriber, profile: ProfileName): Fault | undefined => {
  const chosen = chooseMethod(subscriber, profile);
  if (!chosen.ok) return chosen.fault;
  return chosen.value.sscd && sscdFault(chosen.value.sscd);
};

/** The profiles that the subscriber can use, without the unlisted ones. */
export const profilesOf = (subscriber: Subscriber): readonly ProfileName[] =>
  listed.filter((name) => faultFor(subscriber, name) === undefined);

/**
 * The fault of the chosen device before a prompt. The order is that of the remedies: first the
 * operator lifts a suspension, then the user activates, then a blocked PIN is replaced, which
 * renews the certificate.
 */
export const sscdFault = (sscd: Sscd): Fault | undefined => {
  if (sscd.suspended) return fault(403);
  if (sscd.state !== 'ACTIVE') return fault(404);
  if (sscd.pinBlocked) return fault(402);
  if (sscd.certificateExpired) return fault(422);
  if (sscd.certificateState !== 'ACTIVE') return fault(422, 'Certificate is not active');
  return undefined;
};
