/** What the members of a part give when a process opens them. */
import type { KeyVault } from '../../packages/pki/src/ports.ts';
import type { AppOptions } from '../http/app.ts';
import type { Entrance } from '../http/documentation.route.ts';
import type { HealthCheck } from '../http/health.route.ts';
import type { DeviceStart } from '../oauth/interaction/device-start.ts';
import type { OtherServices } from '../registry/other-services.ts';
import type { MakeDevice } from '../sscd/devices.ts';
import type { Shard } from '../transactions/shards.ts';

export interface PartServices extends OtherServices {
  /** Makes the devices of workers. */
  devices(shards: readonly Shard[]): MakeDevice;
  close(): void;
}

/** A place outside of this process in which private keys are made and used. */
export interface KeyPlace {
  /** @param waitMs The time that a caller waits while the place is away. Default: as configured. */
  vault(waitMs?: number): KeyVault;
  /** Called before a service needs the first key. @throws PartSetupError */
  open(): Promise<void>;
  /** The checks of this place in `/readyz`. */
  readonly checks: readonly HealthCheck[];
  close(): Promise<void>;
}

/** A part cannot be used as it is configured. The message is a sentence for operators. */
export class PartSetupError extends Error {}

export interface ApiPart {
  readonly routes: AppOptions['more'][number];
  /** The page of the part with which people begin. */
  readonly entrance?: Entrance;
  /** Lets devices begin the logins of browsers: of one part at most. */
  readonly deviceStart?: DeviceStart;
  /** What this process needs of it to work, for `/readyz`. */
  readonly checks?: readonly HealthCheck[];
  /** Lines for the person who starts a service of their own. They may hold a link to log in. */
  greet?(): Promise<readonly string[]>;
  /** Answers callers who wait, because the process stops. Safe to call again. */
  endWaiting?(): Promise<void>;
  close?(): Promise<void>;
}

export interface Running {
  close(): Promise<void>;
}

export interface RunningDevices extends Running {
  readonly make: MakeDevice;
}
