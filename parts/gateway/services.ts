/** Opens the gateways of a process for the core. */
import type { PartServices } from '../../src/part/opened.ts';
import type { ServiceRooms } from '../../src/part/rooms.ts';
import { createBehind, type gatewayConfiguration } from './configuration.ts';
import { gatewayDevices } from './device.ts';
import { openGateways } from './gateways.ts';
import { createGatewayNotes } from './notes.ts';
import { createAskProfile } from './profile.ts';

/** @throws SettingFileError */
export const openGatewayServices = ({
  settings,
  now,
  log,
}: ServiceRooms<(typeof gatewayConfiguration)['shapes']>): PartServices => {
  const gateways = openGateways(settings.gateways, now);
  return {
    ...gateways,
    findSubscriber: createBehind(settings.gateways.find((each) => each.default)?.name),
    askProfile: createAskProfile(gateways, log),
    devices: (shards) => gatewayDevices(gateways, createGatewayNotes(shards)),
  };
};
