/**
 * What durability costs: accepting and signing with no append-only file, with one that reaches the
 * disk every second (the default) and with one that reaches it before each answer, side by side;
 * and the floor where it reaches the disk each time.
 *
 * With `everysec` a power failure may take the last second; with `always` nothing that was
 * answered.
 */
import { interleave, type Sides } from '../harness/rounds.ts';
import { type BenchContext, own, type Scenario } from '../harness/scenario.ts';
import { floorSide, type ProductSide, productSide, type Side } from '../harness/sides.ts';
import { median, ratioOf, roundRatios } from '../harness/statistics.ts';
import { startHttpLoader } from '../load/http-load-client.ts';
import { startJobLoader } from '../load/job-load-client.ts';
import { signBody, signTemplate } from '../load/requests.ts';

const inFlight = 64;

const modes = ['off', 'everysec', 'always'] as const;
type Measured = (typeof modes)[number] | 'floor';

const labels: Readonly<Record<Measured, string>> = {
  off: 'no append-only file',
  everysec: 'everysec',
  always: 'always',
  floor: 'floor, always',
};

interface All {
  readonly products: Readonly<Record<(typeof modes)[number], ProductSide>>;
  readonly floor: Awaited<ReturnType<typeof floorSide>>;
}

const openAll = async (context: BenchContext): Promise<All> => {
  const off = await productSide(context, { appendfsync: 'off' });
  const everysec = await productSide(context, { appendfsync: 'everysec' });
  const always = await productSide(context, { appendfsync: 'always' });
  return {
    products: { off, everysec, always },
    floor: await floorSide(context, { appendfsync: 'always' }),
  };
};

/** Requests accepted per second over HTTP; no worker runs. */
const measureAccept = async (context: BenchContext, { products, floor }: All, rounds: number) => {
  const loader = await own(context, startHttpLoader());
  const template = signTemplate({ mode: 'asynch' });
  const rate = (side: Side, url: string) => async (): Promise<number> => {
    await side.clear();
    const load = { url, template, inFlight, durationMs: context.small ? 500 : 3000 };
    return (await loader.run(load)).perSecond;
  };
  const started = await Promise.all(modes.map((mode) => products[mode].start('api')));
  const bare = await floor.startHttp();
  const sides = modes.map((mode, index) => [
    mode,
    rate(products[mode], `${started[index]?.url}/rest/service/sign`),
  ]);
  const result = await interleave(rounds, {
    ...(Object.fromEntries(sides) as Sides<(typeof modes)[number], number>),
    floor: rate(floor, `${bare.url}/asynch`),
  });
  await Promise.all(started.map((api) => api.stop()));
  for (const side of [...Object.values(products), floor]) await side.clear();
  return result;
};

/** Signatures per second, from request to outcome. */
const measureSign = async (context: BenchContext, { products, floor }: All, rounds: number) => {
  const loader = await own(context, startJobLoader());
  const body = signBody({ mode: 'asynch', timeoutSeconds: 300 });
  const rate = (side: Side) => async (): Promise<number> => {
    await side.clear();
    const { perSecond } = await loader.ask({
      kind: 'flow',
      socketPath: side.redis.connection.path,
      prefix: side.prefix,
      body,
      inFlight,
      durationMs: context.small ? 500 : 3000,
    });
    return perSecond;
  };
  await Promise.all(modes.map((mode) => products[mode].start('worker')));
  await floor.startWorker();
  return interleave(rounds, {
    off: rate(products.off),
    everysec: rate(products.everysec),
    always: rate(products.always),
    floor: rate(floor),
  });
};

const ratio = (name: string, divides: string, some: readonly number[], others: readonly number[]) =>
  ratioOf({ name, divides }, roundRatios(some, others));

export const durability: Scenario = {
  name: 'durability',
  title: 'The price of durability',
  run: async (context) => {
    const rounds = context.small ? 2 : 9;
    const all = await openAll(context);
    context.say('accept');
    const accept = await measureAccept(context, all, rounds);
    context.say('sign');
    const sign = await measureSign(context, all, rounds);
    const shown = [...modes, 'floor'] as const;
    return {
      ratios: [
        ratio(
          'durabilityAlways',
          'asynch signs accepted per second, append-only file always / everysec',
          accept.always,
          accept.everysec,
        ),
        ratio(
          'durabilityAlwaysSign',
          'P-256 signatures per second, append-only file always / everysec',
          sign.always,
          sign.everysec,
        ),
        ratio(
          'acceptAlways',
          'asynch signs accepted per second, Paraph / bare route, both with always',
          accept.always,
          accept.floor,
        ),
        ratio(
          'signAlways',
          'P-256 signatures per second, Paraph / bare worker, both with always',
          sign.always,
          sign.floor,
        ),
      ],
      tables: [
        {
          title: `Rates by append-only setting, ${inFlight} in flight (medians of the rounds)`,
          columns: ['', 'accepted/s', 'signatures/s'],
          rows: shown.map((name) => [labels[name], median(accept[name]), median(sign[name])]),
        },
      ],
      plots: [
        {
          file: 'durability',
          title: 'What durability costs',
          kind: 'bars',
          xLabel: 'append-only file',
          yLabel: 'per second',
          series: [
            {
              label: 'sign requests accepted over HTTP',
              points: shown.map((name) => ({ x: labels[name], y: median(accept[name]) })),
            },
            {
              label: 'signatures, request to outcome',
              points: shown.map((name) => ({ x: labels[name], y: median(sign[name]) })),
            },
          ],
        },
      ],
    };
  },
};
