/** Gateways: devices of subscribers at another service with this interface. */
import { definePart } from '../../src/part/part.ts';
import { gatewayConfiguration } from './configuration.ts';

export const gateway = definePart({
  name: 'gateway',
  configuration: gatewayConfiguration,
  openServices: async (rooms) => (await import('./services.ts')).openGatewayServices(rooms),
});
