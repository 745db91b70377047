/** The texts of BullMQ's own scripts that some of ours extend. They are not part of its API. */
import { createRequire } from 'node:module';
import type { RedisClient } from './client.ts';

const require = createRequire(import.meta.url);
const { version } = require('bullmq/dist/cjs/version.js') as { readonly version: string };

interface Script {
  readonly content: string;
  readonly keys: number;
  /** BullMQ's name for it on a client, where nothing is defined yet. */
  readonly commandName: string;
}

const readScript = (name: string, keys: number, module: unknown): Script => {
  const script = (module as Readonly<Record<string, Partial<Script> | undefined>>)[name];
  if (typeof script?.content !== 'string' || script.keys !== keys)
    throw new Error(`BullMQ's ${name} has another form: version ${version} is not supported`);
  return { content: script.content, keys, commandName: `${name}:${version}` };
};

/**
 * BullMQ moves up to 1000 jobs whose time has come in one step. Redis does nothing else for 7 ms
 * then, and ten such steps follow each other when ten thousand jobs share a deadline.
 */
const promotion = '"LIMIT", 0, 1000)';
export const promotedAtOnce = 100;

/**
 * BullMQ wakes another worker with each job that it hands out, whether one waits or not. A worker
 * that is woken for nothing costs a command with three writes: 17 of 87 commands of a process of
 * three signers. Here it is woken for a job that waits, and otherwise told when the next one is
 * due: the worker that knew of this has a job to do now. The answer says whether the job was the
 * only one (known-answers.ts). It never says so for a queue that bounds how many jobs run
 * (`concurrency`), because adding a job to a full queue wakes no worker.
 */
const metadata = 'rcall("HMGET", queueMetaKey, "paused", "concurrency", "max", "duration")\n';
const metadataTelling = `${metadata}  isBounded = queueAttributes[2]\n`;
const handOn = 'addBaseMarkerIfNeeded(markerKey, false)\n';
const handOnWaiting = `local isAlone = 0
  if rcall("EXISTS", keyPrefix .. "wait", keyPrefix .. "prioritized") > 0 then
    addBaseMarkerIfNeeded(markerKey, false)
  else
    isAlone = isBounded and 0 or 1
    local due = rcall("ZRANGE", keyPrefix .. "delayed", 0, 0, "WITHSCORES")
    if due[2] then rcall("ZADD", markerKey, tonumber(due[2]) / 0x1000, "1") end
  end
`;
const handOut = 'return {rcall("HGETALL", jobKey), jobId, 0, 0}';
const handOutKnowing = 'return {rcall("HGETALL", jobKey), jobId, 0, 0, isAlone}';
const nextDue = 'return {0, 0, 0, nextTimestamp}';
const nextDueKnowing = 'return {0, 0, 0, nextTimestamp, isBounded and 0 or 1}';

const replacements = [
  [promotion, `"LIMIT", 0, ${promotedAtOnce})`],
  [metadata, metadataTelling],
  [handOn, handOnWaiting],
  [handOut, handOutKnowing],
  [nextDue, nextDueKnowing],
] as const;

const withSmallSteps = (script: Script): Script => {
  if (replacements.some(([before]) => !script.content.includes(before)))
    throw new Error(
      `BullMQ's ${script.commandName} moves jobs in another way: this version is not supported`,
    );
  const content = replacements.reduce(
    (text, [before, after]) => text.replace(before, after),
    script.content,
  );
  return { ...script, content: `local isBounded\n${content}` };
};

export const addStandardJob = readScript(
  'addStandardJob',
  9,
  require('bullmq/dist/cjs/scripts/addStandardJob-9.js'),
);
export const moveToFinished = withSmallSteps(
  readScript('moveToFinished', 14, require('bullmq/dist/cjs/scripts/moveToFinished-14.js')),
);
const moveToActive = withSmallSteps(
  readScript('moveToActive', 11, require('bullmq/dist/cjs/scripts/moveToActive-11.js')),
);
export const moveToDelayed = readScript(
  'moveToDelayed',
  11,
  require('bullmq/dist/cjs/scripts/moveToDelayed-11.js'),
);
export const promote = readScript('promote', 9, require('bullmq/dist/cjs/scripts/promote-9.js'));
export const reprocessJob = readScript(
  'reprocessJob',
  9,
  require('bullmq/dist/cjs/scripts/reprocessJob-9.js'),
);

/**
 * Clients that have the scripts. BullMQ defines its own under the same names with the first queue
 * on a client, so the names do not tell.
 */
const prepared = new WeakSet<RedisClient>();

/**
 * Makes workers on this client take and end jobs by these scripts. Call it before they are started.
 * A second call does nothing, so a script that extends one of these and is defined later stays.
 */
export const promoteInSteps = (redis: RedisClient): void => {
  if (prepared.has(redis)) return;
  prepared.add(redis);
  for (const { commandName, keys, content } of [moveToActive, moveToFinished])
    redis.defineCommand(commandName, { numberOfKeys: keys, lua: content });
};
