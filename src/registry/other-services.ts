/**
 * Other services with this interface, which have devices of subscribers. Parts connect to them; the
 * core knows each by its name in the configuration.
 */
import type { Checked } from '../../packages/protocol/src/fault.ts';
import type { ProfileName, ProfileParam } from '../../packages/protocol/src/requests.ts';
import type { Subscriber } from './subscriber.ts';

export interface UpstreamProfile {
  readonly profiles: readonly ProfileName[];
  /** The extension as the wire has it, with its members in order. */
  readonly extension: object | undefined;
}

export interface OtherServices {
  /** Roots (DER) of the signatures of a service; undefined for an unknown service. */
  trust(name: string): readonly Uint8Array[] | undefined;
  /** The maximum of concurrent calls, by origin. */
  readonly maxCalls: ReadonlyMap<string, number>;
  /** The subscriber for a number unknown here, if another service serves all such numbers. */
  findSubscriber(msisdn: string): Subscriber | undefined;
  /**
   * Asks the service of a number for its profile.
   *
   * @param about.apId The application that asks.
   * @returns Fault 209 when the service does not answer; undefined for an unknown service.
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
