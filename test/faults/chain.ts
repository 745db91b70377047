/**
 * `npm run faults -- --chain`: Paraph behind Paraph behind Paraph. Each of the three is killed
 * (kill -9) and stopped (SIGSTOP) at moments that the seed chooses, also two at once. So is the
 * Redis of the far one, which refuses writes at times as well: to the others that is a service that
 * answers with trouble. Their own Redis is left alone.
 *
 * The near one is what callers know. The far one has the people: robots that sign at once or after
 * a while, one that refuses, and phones in browsers, scripted. A caller who got no answer sends the
 * same request again, as the interface wants it, so a request is known as acknowledged or as not.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connectForCommands } from '../../src/redis/connect.ts';
import { freePort } from '../support/free-ports.ts';
import { jobsIn } from '../support/gateway.ts';
import { signRequest, statusRequest } from '../support/requests.ts';
import { enrolPhones, usePhones } from './browser-phones.ts';
import { call } from './caller.ts';
import {
  type ChainEvidence,
  chainViolations,
  type FarTransaction,
  type Sent,
} from './checks/chain.ts';
import { isOutcome } from './checks/told.ts';
import { manage, startAgain } from './processes.ts';
import { createRandom } from './random.ts';
import { createRedisNode, type RedisNode, refuseWrites } from './redis-node.ts';
import {
  planStrikes,
  type ServiceName,
  type Strike,
  serviceNames,
  struckNames,
} from './strikes.ts';

const apId = 'http://chain.test';

export type UpstreamMode = 'asynch' | 'synch';

const robots = { first: 41_790_000_000, thinkSeconds: [undefined, 0.4, 1.5] } as const;
const refuser = 41_790_000_003;
const phones = { first: 41_790_100_000, count: 4 };

const phoneNumbers = Array.from({ length: phones.count }, (_, index) =>
  String(phones.first + index),
);

const farConfiguration = (prefix: string) => ({
  sandbox: true,
  queue: { prefix },
  applicationProviders: [{ id: apId }],
  subscribers: [
    ...robots.thinkSeconds.map((thinkSeconds, index) => ({
      msisdn: `+${robots.first + index}`,
      sim: { device: { kind: 'robot', ...(thinkSeconds !== undefined && { thinkSeconds }) } },
    })),
    { msisdn: `+${refuser}`, sim: { device: { kind: 'simulated', sign: { fault: 401 } } } },
    ...phoneNumbers.map((msisdn) => ({
      msisdn: `+${msisdn}`,
      apps: [{ device: { kind: 'phone' } }],
    })),
  ],
});

const gatewayConfiguration = (
  prefix: string,
  url: string,
  mode: UpstreamMode,
  trustAnchorsFile: string,
) => ({
  sandbox: false,
  queue: { prefix },
  applicationProviders: [{ id: apId }],
  gateways: [
    { name: 'upstream', url, apId, trustAnchorsFile, mode, repeats: 'joined', default: true },
  ],
});

export interface ChainOptions {
  readonly dist: string;
  /** Holds logs and evidence. */
  readonly directory: string;
  /** Of the near and of the middle service. The far one gets a Redis of its own. */
  readonly redisUrl: string;
  readonly prefix: string;
  readonly seed: string;
  /** How long requests come at least; they come as long as there are strikes. */
  readonly durationMs: number;
  /** Pause between two requests to robots. */
  readonly pauseMs: number;
  /** Of the near and of the middle one to the service behind it. */
  readonly modes: readonly [near: UpstreamMode, middle: UpstreamMode];
  readonly strikes: readonly Strike[];
}

/** Longer than all strikes and starts on a machine that others use. What works ends long before. */
const timeoutSeconds = 240;
/** Longer than a stop, and than this process may be late on such a machine. */
const callMs = 20_000;
/** So that the callers have time for the answers. */
const maxOpen = 40;
/** After the deadline of what is asked last. */
const marginMs = 15_000;

const urlOf = ({ port }: RedisNode): string => `redis://127.0.0.1:${port}`;

const startServices = async (
  { dist, directory, redisUrl, prefix, modes }: ChainOptions,
  redis: RedisNode,
) => {
  const farUrl = urlOf(redis);
  const masterKey = randomBytes(32);
  const crashes: string[] = [];
  const prefixOf = (name: ServiceName): string => `${prefix}-${name}`;
  const start = async (name: ServiceName, configuration: object) => {
    const port = await freePort();
    const file = (suffix: string): string => join(directory, `${name}.${suffix}`);
    writeFileSync(file('json'), JSON.stringify(configuration));
    const service = manage({
      name,
      command: () => [process.execPath, join(dist, 'src', 'cli', 'paraph.js'), 'start'],
      env: {
        PATH: process.env.PATH ?? '',
        PORT: String(port),
        REDIS_URL: name === 'far' ? farUrl : redisUrl,
        PARAPH_CONFIG: file('json'),
        PARAPH_DATA: file('data'),
        PARAPH_LOG_LEVEL: 'info',
        PARAPH_MASTER_KEY: masterKey.toString('base64url'),
      },
      logFile: file('log'),
      onCrash: (crashed) => crashes.push(crashed),
      ready: ({ onLine }) =>
        new Promise((resolve) =>
          onLine((line) => {
            if (line.includes('ready at http:') || line.includes('"msg":"ready"')) resolve();
          }),
        ),
    });
    await service.start();
    return { ...service, url: `http://127.0.0.1:${port}` };
  };
  const far = await start('far', farConfiguration(prefixOf('far')));
  const roots = join(directory, 'far.pem');
  writeFileSync(roots, await (await fetch(`${far.url}/pki/root.pem`)).text());
  const middle = await start(
    'middle',
    gatewayConfiguration(prefixOf('middle'), far.url, modes[1], roots),
  );
  const near = await start(
    'near',
    gatewayConfiguration(prefixOf('near'), middle.url, modes[0], roots),
  );
  const services = { near, middle, far };
  return {
    services,
    masterKey,
    crashes,
    farPrefix: prefixOf('far'),
    strike: async ({ what, kind, forMs }: Strike): Promise<void> => {
      const struck = what === 'redis' ? redis : services[what];
      if (kind === 'kill') await struck.kill();
      else if (kind === 'stop') struck.pause();
      else await refuseWrites(redis, true);
      await delay(forMs);
      if (kind === 'kill') await startAgain(struck);
      else if (kind === 'stop') struck.resume();
      else await refuseWrites(redis, false);
    },
    stop: () => Promise.all(serviceNames.map((name) => services[name].end())),
  };
};

/** Sends until it is acknowledged or refused, then asks until it has ended. */
const ask = async (url: string, msisdn: string, text: string): Promise<Sent> => {
  const body = signRequest({ mode: 'asynch', msisdn, text, apId, timeoutSeconds });
  const until = Date.now() + timeoutSeconds * 1000 + marginMs;
  const isRobot = Number(msisdn) < refuser;
  let id: string | undefined;
  while (Date.now() < until) {
    const told =
      id === undefined
        ? await call(url, 'sign', body, { withinMs: callMs, asynch: true })
        : await call(url, 'status', statusRequest(id, apId), { withinMs: callMs });
    if (told.kind === 'accepted') id = told.id;
    else if (isOutcome(told)) return { text, isRobot, id, final: told };
    await delay(id === undefined ? 100 : 400);
  }
  return { text, isRobot, id };
};

/** Gets phones and robots asked, and resolves when all that has ended. */
const runCallers = async (
  url: string,
  { seed, durationMs, pauseMs }: ChainOptions,
  isStruck: () => boolean,
): Promise<Sent[]> => {
  const random = createRandom(seed).branch('callers');
  const until = Date.now() + durationMs;
  const goesOn = (): boolean => isStruck() || Date.now() < until;
  let count = 0;
  const newText = (): string => `${seed} ${++count}`;
  /** A phone shows one thing at a time, so it is asked one thing at a time. */
  const askPhone = async (msisdn: string): Promise<Sent[]> => {
    const sent: Sent[] = [];
    while (goesOn()) sent.push(await ask(url, `+${msisdn}`, newText()));
    return sent;
  };
  const askRobots = async (): Promise<Sent[]> => {
    const sent: Promise<Sent>[] = [];
    let open = 0;
    while (goesOn()) {
      await delay(random.below(2 * pauseMs));
      if (open >= maxOpen) continue;
      open += 1;
      const asked = ask(
        url,
        `+${robots.first + random.below(refuser - robots.first + 1)}`,
        newText(),
      );
      sent.push(asked.finally(() => (open -= 1)));
    }
    return Promise.all(sent);
  };
  return (await Promise.all([askRobots(), ...phoneNumbers.map(askPhone)])).flat();
};

export interface ChainRun {
  readonly evidence: ChainEvidence;
  readonly violations: readonly string[];
  /** As they were done. */
  readonly strikes: number;
}

/** @throws When the services cannot be started, at first or again. */
export const runChain = async (options: ChainOptions): Promise<ChainRun> => {
  const { directory, seed, strikes } = options;
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const farRedis = await createRedisNode({ name: 'far-redis', directory, appendfsync: 'always' });
  await farRedis.start();
  const redis = connectForCommands({ url: urlOf(farRedis) }, Date.now);
  redis.on('error', () => undefined);
  const chain = await startServices(options, farRedis);
  try {
    const { near, far } = chain.services;
    const inHands = createRandom(seed).branch('phones');
    const enrolled = await enrolPhones({
      urls: [far.url],
      publicUrl: far.url,
      redisUrl: urlOf(farRedis),
      masterKey: chain.masterKey,
      random: inHands,
      configuration: farConfiguration(chain.farPrefix),
      msisdns: phoneNumbers,
    });
    const away = new AbortController();
    const used = usePhones(enrolled, inHands, away.signal);
    let isStruck = true;
    const striking = Promise.all(
      struckNames.map(async (name) => {
        for (const strike of strikes.filter(({ what }) => what === name)) {
          await delay(strike.afterMs);
          await chain.strike(strike);
        }
      }),
    ).finally(() => {
      isStruck = false;
    });
    const [sent] = await Promise.all([runCallers(near.url, options, () => isStruck), striking]);
    away.abort();
    const transactions: FarTransaction[] = [];
    for (const { id, text } of await jobsIn(redis, chain.farPrefix)) {
      const final = await call(far.url, 'status', statusRequest(id, apId), { withinMs: 15_000 });
      transactions.push({ id, text, final });
    }
    const evidence = { sent, far: transactions, phones: await used, crashes: chain.crashes };
    const violations = chainViolations(evidence);
    const kept = JSON.stringify({ strikes, ...evidence, violations }, undefined, 1);
    writeFileSync(join(directory, 'evidence.json'), `${kept}\n`);
    return { evidence, violations, strikes: strikes.length };
  } finally {
    await chain.stop();
    redis.disconnect();
    await farRedis.kill();
  }
};

/** What a run leaves in test/faults/results. */
export interface ChainResults {
  readonly cores: number;
  readonly rows: readonly {
    readonly modes: string;
    readonly strikes: number;
    readonly acknowledged: number;
    readonly signed: number;
    readonly lost: number;
    readonly doubled: number;
    readonly otherViolations: number;
  }[];
}

const combinations: readonly (readonly [UpstreamMode, UpstreamMode])[] = [
  ['asynch', 'asynch'],
  ['synch', 'synch'],
  ['asynch', 'synch'],
  ['synch', 'asynch'],
];

/** @returns How many promises were broken. */
export const runChains = async (options: {
  readonly dist: string;
  readonly project: string;
  readonly seed: string;
  /** For each combination of modes. */
  readonly durationMs: number;
  /** Whether test/faults/results gets what was found. */
  readonly keeps: boolean;
  readonly say: (text: string) => void;
}): Promise<number> => {
  const { dist, project, seed, durationMs, keeps, say } = options;
  const root = join(project, '.cache', 'faults', 'chain');
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  const redis = await createRedisNode({ name: 'redis', directory: root, appendfsync: 'everysec' });
  await redis.start();
  const rows: ChainResults['rows'][number][] = [];
  let broken = 0;
  try {
    for (const modes of combinations) {
      const name = modes.join('-');
      const one = `${seed}-${name}`;
      const { evidence, violations, strikes } = await runChain({
        dist,
        durationMs,
        modes,
        seed: one,
        directory: join(root, name),
        pauseMs: 60,
        redisUrl: `redis://127.0.0.1:${redis.port}`,
        prefix: `chain-${name}`,
        strikes: planStrikes(createRandom(one).branch('strikes'), durationMs),
      });
      const doubled = violations.filter((text) =>
        /^(nobody is asked twice|a phone shows)/.test(text),
      ).length;
      const lost = violations.filter((text) => text.startsWith('what was acknowledged')).length;
      const acknowledged = evidence.sent.filter(({ id }) => id !== undefined);
      const signed = acknowledged.filter(({ final }) => final?.kind === 'signed').length;
      const otherViolations = violations.length - doubled - lost;
      rows.push({
        modes: modes.join(', '),
        strikes,
        acknowledged: acknowledged.length,
        signed,
        lost,
        doubled,
        otherViolations,
      });
      broken += violations.length;
      say(
        `${name}: ${strikes} strikes, ${evidence.sent.length} sent, ${acknowledged.length} acknowledged, ${signed} signed; ${lost} lost, ${doubled} doubled`,
      );
      for (const violation of violations.slice(0, 10)) say(`VIOLATION: ${violation}`);
    }
  } finally {
    await redis.kill();
  }
  say(`${broken} violations; logs and evidence: ${root}`);
  if (keeps) {
    const results: ChainResults = { cores: availableParallelism(), rows };
    writeFileSync(
      join(project, 'test/faults/results/chain.json'),
      `${JSON.stringify(results, undefined, 2)}\n`,
    );
  }
  return broken;
};
