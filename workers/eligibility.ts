/**
 * Whom to ask for a request, and what already stands against asking.
 *
 * The HTTP layer has checked much of this before it accepted the request. A job may also have been added by another
 * service, and the user's state may have changed since, so the worker looks for itself; it is the one that decides.
 */
import { type Checked, fault, isFaultCode, ok, refuse } from '../src/protocol/fault.ts';
import type { SignatureRequest } from '../src/protocol/requests.ts';
import { locationReport, violatesPolicy } from '../src/registry/geofencing.ts';
import { chooseMethod, type Method, sscdFault } from '../src/registry/profile-selection.ts';
import type { Location, Subscriber, SubscriberRegistry } from '../src/registry/subscriber.ts';
import type { LocationError, LocationReport } from '../machines/outcome.ts';

export interface Eligible {
  readonly subscriber: Subscriber | undefined;
  readonly chosen: Method;
}

export const eligibility = (request: SignatureRequest, subscribers: SubscriberRegistry): Checked<Eligible> => {
  const subscriber = subscribers.find(request.msisdn.number);
  if (subscriber?.alwaysFaults !== undefined) {
    const { code, detail } = subscriber.alwaysFaults;
    return refuse(isFaultCode(code) ? code : 900, detail);
  }
  const chosen = chooseMethod(subscriber, request.profile.name);
  if (!chosen.ok) return chosen;
  const { sscd } = chosen.value;
  const obstacle = sscd === undefined ? undefined : sscdFault(sscd);
  if (obstacle !== undefined) return { ok: false, fault: obstacle };
  const policy = request.services.geofencing?.policy;
  if (policy !== undefined && violatesPolicy(locationFor(subscriber, chosen.value), policy)) {
    return { ok: false, fault: fault(450) };
  }
  return ok({ subscriber, chosen: chosen.value });
};

const locationFor = (subscriber: Subscriber | undefined, { method }: Method): Location | undefined => {
  if (method === 'sim') return subscriber?.location.sim;
  return method === 'app' ? subscriber?.location.app : undefined;
};

/** What the additional services of a request add to its outcome. */
export const servicesOf = (
  request: SignatureRequest,
  { subscriber, chosen }: Eligible,
  now: number,
): { geofencing?: LocationReport | LocationError; subscriberNetwork?: string } => ({
  ...(request.services.geofencing !== undefined && {
    geofencing: locationReport(locationFor(subscriber, chosen), new Date(now)),
  }),
  ...(request.services.subscriberInfo !== undefined && {
    subscriberNetwork: `${subscriber?.carrier?.mcc ?? '000'}${subscriber?.carrier?.mnc ?? '00'}`,
  }),
});
