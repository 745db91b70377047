/**
 * Other services of this interface, at which devices of subscribers are. Parts connect to them; the
 * core knows each by the name that the configuration gives it.
 */
import type { Checked } from '../protocol/fault.ts';
import type { ProfileName, ProfileParam } from '../protocol/requests.ts';
import type { Subscriber } from './subscriber.ts';

export interface UpstreamProfile {
  readonly profiles: readonly ProfileName[];
  /** Members of the wire, in their order. */
  readonly extension: object | undefined;
}

export interface OtherServices {
  /** Roots (DER) of the signatures of a service; undefined where it is not known. */
  trust(name: string): readonly Uint8Array[] | undefined;
  /** How many calls at a time, by origin. */
  readonly maxCalls: ReadonlyMap<string, number>;
  /** A number that is no subscriber here: who is asked for it, where a service takes them all. */
  findSubscriber(msisdn: string): Subscriber | undefined;
  /**
   * Asks the service at which a number is.
   *
   * @param about.apId For whom.
   * @returns Fault 209 when it does not answer; undefined for a service that is not known.
   */
  askProfile(
    name: string,
    about: {
      readonly msisdn: string;
      readonly params: ReadonlySet<ProfileParam>;
      readonly apId: string;
    },
  ): Promise<Checked<UpstreamProfile>> | undefined;
}
