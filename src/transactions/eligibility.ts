/**
 * Finds the device for the prompt of a request, and the faults that prevent the prompt.
 *
 * An error of the request (no such number, no device for the profile) is answered when it is
 * submitted. A state of the user or the device (PIN blocked, suspended, outside the fence) is an
 * outcome of the transaction and shows in its status. The worker checks both again, because other
 * services add jobs without HTTP, and users change.
 */
import {
  type Checked,
  type Fault,
  fault,
  isFaultCode,
  ok,
} from '../../packages/protocol/src/fault.ts';
import type { LocationError, LocationReport } from '../../packages/protocol/src/outcome.ts';
import type { ProfileName, SignatureRequest } from '../../packages/protocol/src/requests.ts';
import { locationReport, violatesPolicy } from '../registry/geofencing.ts';
import { chooseMethod, type Method, sscdFault } from '../registry/profile-selection.ts';
import {
  type Location,
  type Sscd,
  type Subscriber,
  type SubscriberRegistry,
  upstreamOf,
} from '../registry/subscriber.ts';

export interface Eligible {
  readonly subscriber: Subscriber | undefined;
  readonly chosen: Method;
}

/** Whether the user or the device causes a fault: these have the codes 200 to 899. */
const isOfTheDevice = (code: number): boolean => code >= 200 && code < 900;

/** The fault with which a test number always answers. */
export const testFault = (subscriber: Subscriber | undefined): Fault | undefined => {
  const always = subscriber?.alwaysFaults;
  if (always === undefined) return undefined;
  return fault(isFaultCode(always.code) ? always.code : 900, always.detail);
};

/** The fault of a test number that faults at sign, before any rule for the caller. */
export const refusedNumber = (subscriber: Subscriber | undefined): Fault | undefined => {
  const always = testFault(subscriber);
  return always !== undefined && isOfTheDevice(always.code) ? undefined : always;
};

/** The choice of a device: the signature profile of the answer, and the device. */
type Made = { readonly profile: ProfileName; readonly sscdId?: string | undefined };

/**
 * @param subscriber The subscriber of the request's number.
 * @param made The choice of an earlier prompt. It stays valid while the subscriber has the device.
 */
export const eligibilityOf = (
  request: SignatureRequest,
  subscriber: Subscriber | undefined,
  made?: Made,
): Checked<Eligible> => {
  const refused = refusedNumber(subscriber);
  if (refused !== undefined) return { ok: false, fault: refused };
  const sscd = made === undefined ? undefined : sscdOf(subscriber, made.sscdId);
  if (made !== undefined && sscd !== undefined) {
    return ok({ subscriber, chosen: { method: sscd.kind, sscd, answerProfile: made.profile } });
  }
  const chosen = chooseMethod(
    subscriber,
    request.profile.name,
    request.services.app2app !== undefined,
  );
  return chosen.ok ? ok({ subscriber, chosen: chosen.value }) : chosen;
};

/** {@link eligibilityOf} for the subscriber that the registry has for the number. */
export const eligibility = async (
  request: SignatureRequest,
  subscribers: SubscriberRegistry,
  made?: Made,
): Promise<Checked<Eligible>> =>
  eligibilityOf(request, await subscribers.find(request.msisdn.number), made);

export const sscdOf = (
  subscriber: Subscriber | undefined,
  sscdId: string | undefined,
): Sscd | undefined =>
  [subscriber?.sim, ...(subscriber?.apps ?? [])].find(
    (sscd) => sscd !== undefined && sscd.id === sscdId,
  );

/** The device at another service that has signed by this method. */
export const sscdFor = (
  subscriber: Subscriber | undefined,
  profile: ProfileName,
): Sscd | undefined => (profile === 'Device-LoA4' ? subscriber?.apps[0] : subscriber?.sim);

/** @returns The fault that prevents a prompt now, although the request is correct. */
export const obstacleTo = (
  request: SignatureRequest,
  { subscriber, chosen }: Eligible,
): Fault | undefined => {
  const always = testFault(subscriber);
  if (always !== undefined) return always;
  const unusable = chosen.sscd === undefined ? undefined : sscdFault(chosen.sscd);
  if (unusable !== undefined) return unusable;
  // The location of a device at another service is known only there.
  if (chosen.sscd !== undefined && upstreamOf(chosen.sscd) !== undefined) return undefined;
  const policy = request.services.geofencing?.policy;
  return violatesPolicy(locationOf(subscriber, chosen), policy) ? fault(450) : undefined;
};

const locationOf = (
  subscriber: Subscriber | undefined,
  { method }: Method,
): Location | undefined => {
  if (method === 'sim') return subscriber?.location.sim;
  return method === 'app' ? subscriber?.location.app : undefined;
};

/** The results of additional services, for the outcome. */
export const servicesOf = (
  request: SignatureRequest,
  { subscriber, chosen }: Eligible,
  now: number,
): { geofencing?: LocationReport | LocationError; subscriberNetwork?: string } => ({
  ...(request.services.geofencing !== undefined && {
    geofencing: locationReport(locationOf(subscriber, chosen), new Date(now)),
  }),
  ...(request.services.subscriberInfo !== undefined && {
    subscriberNetwork: `${subscriber?.carrier?.mcc ?? '000'}${subscriber?.carrier?.mnc ?? '00'}`,
  }),
});
