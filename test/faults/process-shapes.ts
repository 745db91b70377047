/**
 * Processes of random shape by a seed, as an application sends them. Their times are seconds, so
 * that every timer is due within a run.
 *
 * The text of a person says process, step, signer and place, so that each prompt can be attributed
 * from outside.
 */
import { weekdays } from '../../parts/processes/charts/allowed-hours.ts';
import { checkDefinition } from '../../parts/processes/definition/check-definition.ts';
import type { ProcessDefinition } from '../../parts/processes/definition/definition.ts';
import { numberOf } from './people.ts';
import type { Random } from './random.ts';

type Json = Readonly<Record<string, unknown>>;

/** As JSON, without defaults. */
export type Shape = Json & Pick<ProcessDefinition, 'steps'>;

const textOf = (id: string, step: string, key: string, place: number): string =>
  `${id} ${step} ${key}/${place}`;

const kinds = [
  ...Array<'signer'>(7).fill('signer'),
  ...Array<'ponderer'>(3).fill('ponderer'),
  ...Array<'mute'>(3).fill('mute'),
  ...(['denier', 'unreachable', 'popular'] as const),
];

const seconds = (count: number): string => `PT${count}S`;
const maybe = (random: Random, probability: number, part: () => Json): Json =>
  random.chance(probability) ? part() : {};

/** Hours on another day of the week than these: nobody is asked in them. */
const closedHours = (now: number) => ({
  from: '09:00',
  to: '12:00',
  timeZone: 'Europe/Zurich',
  days: [weekdays[(new Date(now).getUTCDay() + 2) % 7]],
});
const openHours = { from: '00:00', to: '24:00', timeZone: 'Asia/Kathmandu', days: weekdays };

const conditionFor = (random: Random, earlier: string): Json => {
  const fact = random.pick([
    { step: earlier, is: 'done' },
    { step: earlier, is: 'unmet' },
    { step: earlier, signer: '1' },
  ]);
  return random.chance(0.5) ? fact : { not: fact };
};

const stepFor = (random: Random, id: string, name: string, index: number, now: number): Json => {
  const person = (key: string, place: number): Json => ({
    name: `${key}/${place}`,
    msisdn: numberOf(random.pick(kinds), random),
    text: textOf(id, name, key, place),
  });
  const count = random.between(1, 3);
  const hasSubstitutes = random.chance(0.3);
  const deadline = random.between(2, 6);
  const rule = (own: string): string =>
    random.pick(['fail', 'continue', own, ...(hasSubstitutes ? ['substitute'] : [])]);
  return {
    name,
    signers: Array.from({ length: count }, (_, place) => ({
      ...person(String(place + 1), 0),
      ...(hasSubstitutes && { substitutes: [person(String(place + 1), 1)] }),
    })),
    need: random.pick(['all', 'all', 'first', random.between(1, count)]),
    ...(index > 0 &&
      maybe(random, 0.3, () => ({ if: conditionFor(random, `s${random.below(index)}`) }))),
    ask: random.pick(['now', 'now', 'now', 'now', 'page', openHours, closedHours(now)]),
    ...maybe(random, 0.4, () => ({
      askAgain: { times: random.between(1, 3), every: seconds(random.between(1, 2)) },
    })),
    ...maybe(random, 0.4, () => ({ remind: [seconds(1), seconds(random.between(2, 4))] })),
    ...maybe(random, 0.7, () => ({
      deadline: random.chance(0.8)
        ? seconds(deadline)
        : new Date(now + deadline * 1500).toISOString(),
    })),
    ...maybe(random, 0.2, () => ({ escalate: { after: seconds(1), to: person('escalated', 0) } })),
    onRefusal: rule('fail'),
    onUnreached: rule('wait'),
    onDeadline: random.pick(['fail', 'continue']),
  };
};

/**
 * @param now When it will be sent; milliseconds since the epoch.
 * @param tell An address that hears of a failure.
 */
export const shapeFor = (random: Random, id: string, now: number, tell: string): Shape => {
  for (;;) {
    const deadline = random.between(5, 14);
    const shape: Json = {
      title: id,
      deadline: random.chance(0.7)
        ? seconds(deadline)
        : new Date(now + deadline * 1000).toISOString(),
      steps: Array.from({ length: random.between(1, 4) }, (_, index) =>
        stepFor(random, id, `s${index}`, index, now),
      ),
      ...maybe(random, 0.4, () => ({
        compensation: [{ tell }, { ...stepFor(random, id, 'c0', 0, now), deadline: seconds(3) }],
      })),
    };
    // Numbers may be in a step twice, and conditions may never hold.
    if (checkDefinition(shape, { now, isKnown: () => true }).ok) return shape as Shape;
  }
};
