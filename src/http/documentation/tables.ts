/**
 * What all operations share: profiles, services, status codes and faults; and the sandbox's
 * numbers. Which device a profile leads to is not retold but asked of the code that chooses it.
 */
import { html } from 'hono/html';
import { type FaultCode, faultCodes, faultTable } from '../../protocol/fault.ts';
import { profileNames, type ServiceName } from '../../protocol/requests.ts';
import type { ProtocolRules } from '../../protocol/rules.ts';
import { profileUriText, servicesByUri } from '../../protocol/uris.ts';
import { chooseMethod } from '../../registry/profile-selection.ts';
import { isSimulated, type Sscd, type Subscriber } from '../../registry/subscriber.ts';
import { testUsers } from '../../registry/test-users.ts';
import { authoritiesOf } from './examples.ts';
import { code, type Html, type Section, table, words } from './markup.ts';
import { faultWords, profileWords, serviceWords, statusRows } from './words.ts';

const faultLink = (fault: FaultCode): Html => html`<a href="#fault-${fault}">fault ${fault}</a>`;

const otherDialects = ({ authorities: [first, ...others] }: ProtocolRules): readonly unknown[] =>
  others.length === 0
    ? []
    : words(
        `In place of \`${first}\` these hosts mean the same: ${others.map((other) => `\`${other}\``).join(', ')}. An answer uses the one that the request used.`,
      );

/** Test users that do not always fail. */
const healthy = testUsers.filter(({ alwaysFaults }) => alwaysFaults === undefined);
const userWith = (
  algorithm: Sscd['algorithm'] | undefined,
  hasApp: boolean,
): Subscriber | undefined =>
  healthy.find(({ sim, apps }) => sim?.algorithm === algorithm && apps.length > 0 === hasApp);

export const profiles = (rules: ProtocolRules): Section => {
  const people = {
    'Unknown number': undefined,
    'SIM, EC key': userWith('EC', false),
    'SIM, RSA key': userWith('RSA', false),
    App: userWith(undefined, true),
    'SIM and App': userWith('EC', true),
  };
  const example = profileUriText({ authority: authoritiesOf(rules).main, name: 'Any-LoA4' });
  return {
    id: 'profiles',
    title: 'Signature profiles',
    content: html`<p>${words(`\`SignatureProfile\` says how to sign: \`${example}\` and so on. The table shows which method a person with these devices is asked by; an answer names that method.`)} ${otherDialects(rules)}</p>
${table(
  'Signature profiles',
  ['Profile', ...Object.keys(people), 'Meaning'],
  profileNames.map((name) => [
    code(name),
    ...Object.values(people).map((person) => {
      const chosen = chooseMethod(person, name);
      if (!chosen.ok) return faultLink(chosen.fault.code);
      return chosen.value.sscd === undefined ? 'text message' : code(chosen.value.answerProfile);
    }),
    words(profileWords[name]),
  ]),
)}
<p>A device that is not active counts only when no other is. A SIM shows one prompt at a time: while it does, another request is ${faultLink(406)}. On the App a new request takes the place of the one before, which ends with ${faultLink(401)}.</p>`,
  };
};

/** Each service in the spelling of the interface's text. */
const serviceUris = (rules: ProtocolRules): ReadonlyMap<ServiceName, string> => {
  const { main, lang } = authoritiesOf(rules);
  const uris = new Map([...servicesByUri([main])].map(([uri, name]) => [name, uri]));
  for (const [uri, name] of servicesByUri([lang])) if (name === 'userLang') uris.set(name, uri);
  return uris;
};

export const services = (rules: ProtocolRules): Section => ({
  id: 'services',
  title: 'Additional services',
  content: html`<p>${words('`AdditionalServices` asks for more than a signature. Each element names its service in `Description`.')} ${otherDialects(rules)}</p>
${table(
  'Additional services',
  ['Description', 'What to send, and what happens'],
  [...serviceUris(rules)].map(([name, uri]) => [code(uri), words(serviceWords[name])]),
)}`,
});

export const statusCodes: Section = {
  id: 'status-codes',
  title: 'Status codes',
  content: html`<p><code>Status.StatusCode.Value</code> in an answer with HTTP status 200.</p>
${table(
  'Status codes',
  ['Value', 'StatusMessage', 'Where', 'Meaning'],
  statusRows.map(([value, message, where, meaning]) => [
    code(value),
    code(message),
    where,
    words(meaning),
  ]),
)}`,
};

/** @param members Of the Fault object. */
export const faults = (members: Html): Section => ({
  id: 'faults',
  title: 'Faults',
  content: html`<p>HTTP status 500. The code is in <code>Fault.Code.SubCode.Value</code>, after an underscore: <code>_401</code>. <code>Detail</code> is for people; for a mistake in the request it names the member, never its value. Decide by the code.</p>
${table(
  'Fault codes',
  ['Code', 'Reason', 'Side', 'When, and what to do'],
  faultCodes.map((fault) => [
    code(String(fault)),
    code(faultTable[fault].reason),
    faultTable[fault].blame,
    words(faultWords[fault]),
  ]),
  faultCodes.map((fault) => `fault-${fault}`),
)}
<p>Other HTTP statuses have a Fault as their body too: 405 for a method that is not POST, 404 for an address below <code>/rest/</code> that does not exist, 400 and 408 for what is not valid HTTP or did not arrive in time.</p>
${members}`,
});

const receipts = {
  accepts: 'accepts the receipt',
  cancels: 'cancels the receipt',
  ignores: 'sees the receipt and does nothing',
  'never-answers': 'never sees the receipt',
} as const;

const behaviourOf = ({ device }: Sscd): string => {
  if (!isSimulated(device) || device.kind !== 'simulated')
    return 'Signs at once, any number of requests at a time.';
  if (device.sign === 'signs') return `Signs, and ${receipts[device.receipt]}.`;
  return device.sign === 'never-answers'
    ? 'Never answers: every request expires.'
    : `Ends with fault ${device.sign.fault}.`;
};

const userRow = ({ msisdn, sim, apps, location }: Subscriber): readonly unknown[] => {
  const devices = [...(sim === undefined ? [] : [sim]), ...apps];
  const names = devices.map(
    ({ kind, algorithm }) =>
      `${kind === 'sim' ? 'SIM' : 'App'} (${algorithm === 'EC' ? 'EC P-256' : 'RSA 2048'})`,
  );
  const nowhere =
    location.sim !== undefined && 'errorCode' in location.sim
      ? ` Cannot be located: geofencing error ${location.sim.errorCode}.`
      : '';
  return [
    code(`+${msisdn}`),
    names.join(', '),
    `${devices.slice(0, 1).map(behaviourOf)}${nowhere}`,
  ];
};

const failing = testUsers.flatMap(({ msisdn, alwaysFaults }) =>
  alwaysFaults === undefined ? [] : [{ msisdn, ...alwaysFaults }],
);
const endsInItsCode = ({ msisdn, code: fault }: (typeof failing)[number]): boolean =>
  msisdn.endsWith(String(fault));
const named = failing.filter(endsInItsCode);

export const testNumbers: Section = {
  id: 'test-numbers',
  title: 'Test numbers',
  content: html`<p>This service is a sandbox. These numbers answer by themselves; they can be written with or without the plus sign.</p>
${table(
  'Test numbers',
  ['MSISDN', 'Signs with', 'Behaviour'],
  [
    ...healthy.map(userRow),
    [
      html`<code>+${named[0]?.msisdn.slice(0, -3)}</code><var>NNN</var>`,
      'SIM (EC P-256)',
      words(
        `Ends with fault NNN, one of ${named.map(({ code: fault }) => fault).join(', ')}. Those from 208 to 450 are outcomes: in mode \`asynch\` status tells them.`,
      ),
    ],
    ...failing
      .filter((each) => !endsInItsCode(each))
      .map(({ msisdn, code: fault, detail }) => [
        code(`+${msisdn}`),
        '',
        words(`For monitoring: always fault ${fault}, \`${detail}\`.`),
      ]),
  ],
)}`,
};
