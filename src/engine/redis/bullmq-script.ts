/** The texts of BullMQ's own scripts that some of ours extend. They are no part of its API. */
import { createRequire } from 'node:module';
import { z } from 'zod';

const require = createRequire(import.meta.url);
const { version } = z.object({ version: z.string() }).parse(require('bullmq/dist/cjs/version.js'));

/** `commandName` is BullMQ's name for it on a client, where nothing is defined yet. */
const readScript = (name: string, keys: number, module: unknown) => {
  const schema = z.object({ content: z.string(), keys: z.literal(keys) });
  const script = schema.parse((module as Readonly<Record<string, unknown>>)[name]);
  return { ...script, commandName: `${name}:${version}` };
};

export const addStandardJob = readScript(
  'addStandardJob',
  9,
  require('bullmq/dist/cjs/scripts/addStandardJob-9.js'),
);
export const moveToFinished = readScript(
  'moveToFinished',
  14,
  require('bullmq/dist/cjs/scripts/moveToFinished-14.js'),
);
export const reprocessJob = readScript(
  'reprocessJob',
  9,
  require('bullmq/dist/cjs/scripts/reprocessJob-9.js'),
);
