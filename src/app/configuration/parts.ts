/** The members that parts add to the configuration. */
import { z } from 'zod';
import { partConfigurations } from '../../../parts/configuration.ts';
import { environmentSchema } from '../../environment/environment.ts';
import type { PartShapes } from '../../part/rooms.ts';
import type { PartDeviceSchema } from '../../registry/subscriber.ts';

/** Kinds of devices of parts. */
export const devicesOfParts: readonly PartDeviceSchema[] = partConfigurations.flatMap(
  ({ devices = [] }) => devices,
);

/**
 * Typed as nothing: only the part knows its members.
 *
 * @param where The object of the file to which they belong.
 */
export const shapeOf = (where: keyof PartShapes): Readonly<Record<never, z.ZodType>> =>
  Object.assign({}, ...partConfigurations.map(({ shapes }) => shapes[where]));

/** The environment variables of core and parts, for the documents. @public */
export const documentedEnvironment = environmentSchema.extend(
  Object.fromEntries(
    partConfigurations.flatMap(({ variables = {} }) =>
      Object.entries(variables).map(([name, description]) => [
        name,
        z.string().optional().meta({ description }),
      ]),
    ),
  ),
);
