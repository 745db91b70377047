/** Combines the other services of all parts of a process. */
import type { PartServices } from '../part/opened.ts';
import type { Part } from '../part/part.ts';
import type { ServiceRooms } from '../part/rooms.ts';
import type { OtherServices } from '../registry/other-services.ts';
import type { MakeDevice } from '../sscd/devices.ts';
import type { Shard } from '../transactions/shards.ts';

const firstOf = <Value, Found>(
  values: readonly Value[],
  find: (value: Value) => Found | undefined,
): Found | undefined => {
  for (const value of values) {
    const found = find(value);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** @throws When a file that the configuration names is not usable. */
export const openOtherServices = async (
  parts: readonly Part[],
  rooms: ServiceRooms,
): Promise<
  OtherServices & { devices(shards: readonly Shard[]): readonly MakeDevice[]; close(): void }
> => {
  const opened: PartServices[] = [];
  const close = (): void => {
    for (const each of opened) each.close();
  };
  try {
    for (const part of parts) {
      const services = await part.openServices?.(rooms);
      if (services !== undefined) opened.push(services);
    }
  } catch (error) {
    close();
    throw error;
  }
  return {
    trust: (name) => firstOf(opened, (each) => each.trust(name)),
    maxCalls: new Map(opened.flatMap(({ maxCalls }) => [...maxCalls])),
    findSubscriber: (msisdn) => firstOf(opened, (each) => each.findSubscriber(msisdn)),
    askProfile: (name, about) => firstOf(opened, (each) => each.askProfile(name, about)),
    devices: (shards) => opened.map((each) => each.devices(shards)),
    close,
  };
};
