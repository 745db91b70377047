/**
 * The sandbox's numbers, described from what they are made of.
 */
import { html } from 'hono/html';
import { isFaultCode } from '../../protocol/fault.ts';
import type { Sscd, Subscriber } from '../../registry/subscriber.ts';
import { testUsers } from '../../registry/test-users.ts';
import { type Html, heading, table, words } from './markup.ts';

const keyOf = ({ algorithm }: Sscd): string => (algorithm === 'EC' ? 'EC P-256' : 'RSA 2048');

const devicesOf = ({ sim, apps }: Subscriber): string =>
  [...(sim === undefined ? [] : [`SIM (${keyOf(sim)})`]), ...apps.map((app) => `App (${keyOf(app)})`)].join(
    ', ',
  );

const receiptBehaviour = {
  accepts: 'accepts the receipt',
  cancels: 'cancels the receipt',
  ignores: 'sees the receipt and does nothing',
  'never-answers': 'never sees the receipt',
} as const;

const behaviourOf = ({ device }: Sscd): string => {
  if (device.kind === 'robot') return 'Signs at once, any number of requests at a time.';
  if (device.sign === 'signs') return `Signs, and ${receiptBehaviour[device.receipt]}.`;
  return device.sign === 'never-answers'
    ? 'Never answers: every request expires.'
    : `Ends with fault ${device.sign.fault}.`;
};

const locationOf = ({ location }: Subscriber): string => {
  const { sim } = location;
  return sim !== undefined && 'errorCode' in sim
    ? ` Cannot be located: geofencing error ${sim.errorCode}.`
    : '';
};

const row = (user: Subscriber) => {
  const device = user.sim ?? user.apps[0];
  const behaviour = device === undefined ? '' : behaviourOf(device);
  return {
    cells: [html`<code>+${user.msisdn}</code>`, devicesOf(user), `${behaviour}${locationOf(user)}`],
  };
};

/** A number that ends in the code it answers with; all of these are one row. */
const namesItsFault = ({ msisdn, alwaysFaults }: Subscriber): boolean =>
  alwaysFaults !== undefined && isFaultCode(alwaysFaults.code) && msisdn.endsWith(String(alwaysFaults.code));

const faultRows = (users: readonly Subscriber[]) => {
  const named = users.filter(namesItsFault);
  const others = users.filter((user) => user.alwaysFaults !== undefined && !namesItsFault(user));
  const codes = named.map(({ alwaysFaults }) => String(alwaysFaults?.code));
  const stem = named[0]?.msisdn.slice(0, -3) ?? '';
  return [
    {
      cells: [
        html`<code>+${stem}</code><var>NNN</var>`,
        'SIM (EC P-256)',
        words(
          `Ends with fault NNN, one of ${codes.join(', ')}. Those from 208 to 450 are outcomes: in mode \`asynch\` status tells them.`,
        ),
      ],
    },
    ...others.map(({ msisdn, alwaysFaults }) => ({
      cells: [
        html`<code>+${msisdn}</code>`,
        '',
        words(`For monitoring: always fault ${alwaysFaults?.code}, \`${alwaysFaults?.detail}\`.`),
      ],
    })),
  ];
};

export const testNumbersSection = (): Html => html`<section aria-labelledby="test-numbers">
${heading(2, 'test-numbers', 'Test numbers')}
<p>This service is a sandbox. These numbers answer by themselves; they can be written with or without the plus sign.</p>
${table(
  'Test numbers',
  [
    { title: 'MSISDN', kind: 'name' },
    { title: 'Signs with', kind: 'tight' },
    { title: 'Behaviour', kind: 'prose' },
  ],
  [...testUsers.filter(({ alwaysFaults }) => alwaysFaults === undefined).map(row), ...faultRows(testUsers)],
)}
</section>`;
