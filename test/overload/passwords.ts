/**
 * A flood of wrong passwords, as one part of `npm run overload`: a good application, whose password
 * is right, beside it.
 *
 * The flood names eleven other registered applications and the good one, from the good one's own
 * address, so nothing but the password tells the two apart. Then the process starts anew in the
 * middle of the flood, and so has not seen the good password yet.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ParaphProcess } from '../../bench/harness/paraph.ts';
import type { Table } from '../../bench/harness/scenario.ts';
import { hashPassword } from '../../src/registry/passwords.ts';
import { type Kind, type Seen, startLoader } from './load.ts';
import { signKind } from './requests.ts';

const goodPassword = 'right-password-of-the-good-one';
const goodId = 'http://good.example';
const otherIds = Array.from({ length: 11 }, (_, index) => `http://other-${index}.example`);

/** What the good application sends, and what the flood does; both in a second. */
const goodPerSecond = 20;
const floodPerSecond = 200;
const floodConnections = 190;
/**
 * How much longer is looked while the password is new: its turn may come after several of each
 * name.
 */
const unseenFactor = 3;
/** In which the flood has filled whatever there is to fill. */
const settleMs = 1000;

export interface FloodFindings {
  readonly table: Table;
  readonly ratios: Readonly<Record<string, number>>;
  readonly explained: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

const signAs = (name: string, apId: string, password: string): Kind => ({
  ...signKind('synch', 1, { AP_ID: apId, AP_PWD: password }),
  name,
});

const sumOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Whatever is not an answer that the application wanted. */
const shutOutOf = ({ refused, faults, broken }: Seen): number =>
  refused.count + sumOf(faults) + broken;

/** @param startApi With these keys of the configuration. */
export const measurePasswordFlood = async (
  startApi: (configuration: Readonly<Record<string, unknown>>) => Promise<ParaphProcess>,
  { durationMs, say }: { readonly durationMs: number; readonly say: (line: string) => void },
): Promise<FloodFindings> => {
  const ids = [goodId, ...otherIds];
  const applicationProviders = [];
  for (const id of ids)
    applicationProviders.push({ id, passwordHash: await hashPassword(goodPassword) });
  const [good, flood] = [await startLoader(), await startLoader()];
  try {
    const askGood = async ({ url }: ParaphProcess, ms = durationMs): Promise<Seen> => {
      const kinds = [signAs('good', goodId, goodPassword)];
      const seen = (
        await good.ask({
          url,
          kinds,
          durationMs: ms,
          perSecond: goodPerSecond,
          connections: 500,
          wantsIds: false,
        })
      ).kinds.good;
      if (seen === undefined) throw new Error('Nothing was sent');
      return seen;
    };
    const floodFor = ({ url }: ParaphProcess, ms: number) =>
      flood.ask({
        url,
        kinds: ids.map((id) => signAs(id, id, 'wrong-{{n}}')),
        durationMs: ms,
        perSecond: floodPerSecond,
        connections: floodConnections,
        wantsIds: false,
      });
    const beside = async (api: ParaphProcess, ms: number) => {
      const flooding = floodFor(api, settleMs + ms);
      await delay(settleMs);
      const seen = await askGood(api, ms);
      return { seen, flood: await flooding };
    };

    say('a flood of wrong passwords');
    let api = await startApi({ applicationProviders });
    await askGood(api);
    const alone = await askGood(api);
    const known = await beside(api, durationMs);
    await api.stop();
    api = await startApi({ applicationProviders });
    const unknown = await beside(api, unseenFactor * durationMs);
    await api.stop();

    const share = (seen: Seen): number => shutOutOf(seen) / (shutOutOf(seen) + seen.served.count);
    const row = (what: string, seen: Seen): (string | number)[] => [
      what,
      seen.served.count,
      shutOutOf(seen),
      seen.served.p50Ms,
      seen.served.p99Ms,
      seen.served.maxMs,
    ];
    const letIn = Object.values(known.flood.kinds).reduce(
      (sum, { served }) => sum + served.count,
      0,
    );
    return {
      table: {
        title: `A good application's requests beside ${Math.round(known.flood.sent / known.flood.seconds)} wrong passwords a second in ${ids.length} names`,
        columns: ['what', 'served', 'refused', 'p50 ms', 'p99 ms', 'max ms'],
        rows: [
          row('alone', alone),
          row('beside the flood', known.seen),
          row('beside the flood, password not seen since the start', unknown.seen),
        ],
      },
      ratios: {
        floodRefused: share(known.seen),
        floodRefusedUnseen: share(unknown.seen),
        floodP99: known.seen.served.p99Ms / alone.served.p99Ms,
      },
      explained: {
        floodRefused:
          "a good application's requests refused beside a flood of wrong passwords / sent",
        floodRefusedUnseen: 'the same, its password not seen since the start / sent',
        floodP99: "a good application's p99 beside the flood / alone",
      },
      problems: [
        ...(letIn === 0 ? [] : [`${letIn} wrong passwords were let in`]),
        ...(shutOutOf(alone) === 0 ? [] : ['a good application was refused without a flood']),
        ...(shutOutOf(known.seen) === 0
          ? []
          : [
              `${shutOutOf(known.seen)} requests of a good application were refused beside wrong passwords`,
            ]),
        ...(unknown.seen.served.count > 0
          ? []
          : ['a password that was not seen since the start was never let in beside wrong ones']),
      ],
    };
  } finally {
    await good.stop();
    await flood.stop();
  }
};
