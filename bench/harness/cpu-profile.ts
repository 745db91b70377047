/**
 * Reads a CPU profile of V8 and says what the time went to, in words that a reader of this project
 * knows.
 *
 * Time of the engine and of Node itself belongs to whoever called: a system call to the code that
 * wrote, a hash to the code that wanted it. What nobody of ours called is Node's own work for the
 * connection.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const profileSchema = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string() }),
      children: z.array(z.number()).optional(),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});

const byUrl: readonly (readonly [RegExp, string])[] = [
  [/node_modules\/xstate\//, 'XState'],
  [/node_modules\/zod\//, 'zod'],
  [/node_modules\/@?hono\//, 'Hono and its adapter'],
  [/node_modules\/(@pinojs|pino|sonic-boom|quick-format-unescaped)/, 'log (pino)'],
  [/node_modules\/|\/src\/redis\//, 'BullMQ and ioredis'],
  [/\/src\/protocol\//, 'strict JSON, the request and its instants'],
  [/\/src\/http\//, 'HTTP: body, admission, answer'],
  [/\/src\/(pki|sscd)\//, 'the signature and its CMS'],
  [/\/src\/registry\//, 'callers and subscribers'],
  [/\/src\/transactions\//, 'fingerprint, id, transaction'],
  [/\/packages\/engine\//, 'the engine'],
  [/\/(workers|machines)\//, 'the step and its record'],
  [/\/bench\/floors\//, "the floor's own lines"],
];

const own = 'Node: sockets, HTTP, promises';
const collector = 'garbage collection';
/** Loading of modules and waiting are not work for a request. */
const ignored = 'ignored';

const groupOf = (url: string, functionName: string): string | undefined => {
  if (functionName === '(garbage collector)') return collector;
  if (functionName === '(idle)' || url.startsWith('node:internal/modules')) return ignored;
  return byUrl.find(([pattern]) => pattern.test(url))?.[1];
};

/** @returns Microseconds by group, the greatest first. */
export const timeByGroup = (text: string): ReadonlyMap<string, number> => {
  const { nodes, samples, timeDeltas } = profileSchema.parse(JSON.parse(text));
  const parents = new Map<number, number>();
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const groups = new Map<number, string>();
  const resolve = (id: number): string => {
    const known = groups.get(id);
    if (known !== undefined) return known;
    const parent = parents.get(id);
    const above = parent === undefined ? own : resolve(parent);
    const { url = '', functionName = '' } = frames.get(id) ?? {};
    const group = above === ignored ? ignored : (groupOf(url, functionName) ?? above);
    groups.set(id, group);
    return group;
  };
  const times = new Map<string, number>();
  samples.forEach((id, index) => {
    const group = resolve(id);
    if (group !== ignored) times.set(group, (times.get(group) ?? 0) + (timeDeltas[index] ?? 0));
  });
  return new Map([...times].toSorted(([, a], [, b]) => b - a));
};

/** The profile that a process left in a folder when it ended. */
export const profileOf = (folder: string, pid: number): string => {
  const file = readdirSync(folder).find((name) => name.includes(`.${pid}.0.`));
  if (file === undefined) throw new Error(`process ${pid} left no profile`);
  return readFileSync(join(folder, file), 'utf8');
};
