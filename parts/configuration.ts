/** What the parts add to the configuration. In the order of parts.ts. */
import type { PartConfiguration } from '../src/part.ts';
import { callbackConfiguration } from './callbacks/configuration.ts';
import { gatewayConfiguration } from './gateway/configuration.ts';
import { processConfiguration } from './processes/configuration.ts';

export const partConfigurations: readonly PartConfiguration[] = [
  callbackConfiguration,
  gatewayConfiguration,
  processConfiguration,
];
