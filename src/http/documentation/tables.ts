/**
 * What all operations share, as chapters in Markdown: profiles, services, status codes and faults;
 * and the sandbox's numbers. Which device a profile leads to is not retold but asked of the code
 * that chooses it.
 */
import { faultCodes, faultTable } from '../../../packages/protocol/src/fault.ts';
import { profileNames, type ServiceName } from '../../../packages/protocol/src/requests.ts';
import type { ProtocolRules } from '../../../packages/protocol/src/rules.ts';
import { profileUriText, servicesByUri } from '../../../packages/protocol/src/uris.ts';
import { chooseMethod } from '../../registry/profile-selection.ts';
import { isSimulated, type Sscd, type Subscriber } from '../../registry/subscriber.ts';
import { testUsers } from '../../registry/test-users.ts';
import { authoritiesOf } from './examples.ts';
import { chapter, code, table } from './markdown.ts';
import { faultWords, profileWords, serviceWords, statusRows } from './words.ts';

const otherDialects = ({ authorities: [first, ...others] }: ProtocolRules): string =>
  others.length === 0
    ? ''
    : `In place of \`${first}\` these hosts mean the same: ${others.map(code).join(', ')}. An answer uses the one that the request used.`;

/** Test users that do not always fail. */
const healthy = testUsers.filter(({ alwaysFaults }) => alwaysFaults === undefined);
const userWith = (
  algorithm: Sscd['algorithm'] | undefined,
  hasApp: boolean,
): Subscriber | undefined =>
  healthy.find(({ sim, apps }) => sim?.algorithm === algorithm && apps.length > 0 === hasApp);

export const profiles = (rules: ProtocolRules): string => {
  const people = {
    'unknown number': undefined,
    'SIM, EC key': userWith('EC', false),
    'SIM, RSA key': userWith('RSA', false),
    App: userWith(undefined, true),
    'SIM and App': userWith('EC', true),
  };
  const example = profileUriText({ authority: authoritiesOf(rules).main, name: 'Any-LoA4' });
  return chapter(
    'Signature profiles',
    `\`SignatureProfile\` says how to sign: \`${example}\` and so on. The table shows by which method a person is asked; an answer names that method.`,
    otherDialects(rules),
    table(
      ['Profile', 'Meaning', 'Method, by what the person has'],
      profileNames.map((name) => [
        code(name),
        profileWords[name],
        Object.entries(people)
          .map(([whose, person]) => {
            const chosen = chooseMethod(person, name);
            if (!chosen.ok) return `${whose}: fault ${chosen.fault.code}`;
            return `${whose}: ${chosen.value.sscd === undefined ? 'text message' : code(chosen.value.answerProfile)}`;
          })
          .join('; '),
      ]),
    ),
    'A device that is not active counts only when no other is. A SIM shows one prompt at a time: while it does, another request is fault 406. On the App a new request takes the place of the one before, which ends with fault 401.',
  );
};

/** Each service in the spelling of the interface's text. */
const serviceUris = (rules: ProtocolRules): ReadonlyMap<ServiceName, string> => {
  const { main, lang } = authoritiesOf(rules);
  const uris = new Map([...servicesByUri([main])].map(([uri, name]) => [name, uri]));
  for (const [uri, name] of servicesByUri([lang])) if (name === 'userLang') uris.set(name, uri);
  return uris;
};

export const services = (rules: ProtocolRules): string =>
  chapter(
    'Additional services',
    '`AdditionalServices` asks for more than a signature. Each element names its service in `Description`.',
    otherDialects(rules),
    table(
      ['Description', 'What to send, and what happens'],
      [...serviceUris(rules)].map(([name, uri]) => [code(uri), serviceWords[name]]),
    ),
  );

export const statusCodes = chapter(
  'Status codes',
  '`Status.StatusCode.Value` in an answer with HTTP status 200.',
  table(
    ['Value and StatusMessage', 'Where', 'Meaning'],
    statusRows.map(([value, message, where, meaning]) => [
      `${code(value)} ${code(message)}`,
      where,
      meaning,
    ]),
  ),
);

export const faults = chapter(
  'Faults',
  'HTTP status 500. The code is in `Fault.Code.SubCode.Value`, after an underscore: `_401`. `Detail` is for people; for a mistake in the request it names the member, never its value. Decide by the code.',
  table(
    ['Code', 'Reason and side', 'When, and what to do'],
    faultCodes.map((fault) => [
      code(String(fault)),
      `${code(faultTable[fault].reason)} ${faultTable[fault].blame}`,
      faultWords[fault],
    ]),
  ),
  'Other HTTP statuses have a Fault as their body too: 405 for a method that is not POST, 404 for an address below `/rest/` that does not exist, 400 and 408 for what is not valid HTTP or did not arrive in time.',
);

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

const userRow = ({ msisdn, sim, apps, location }: Subscriber): readonly string[] => {
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
const lastOutcome = Math.max(...named.map(({ code: fault }) => fault).filter((each) => each < 900));

export const testNumbers = chapter(
  'Test numbers',
  'This service is a sandbox. These numbers answer by themselves; they can be written with or without the plus sign.',
  table(
    ['MSISDN', 'Signs with', 'Behaviour'],
    [
      ...healthy.map(userRow),
      [
        `\`+${named[0]?.msisdn.slice(0, -3)}\`*NNN*`,
        'SIM (EC P-256)',
        `Ends with fault NNN, one of ${named.map(({ code: fault }) => fault).join(', ')}. Those from 208 to ${lastOutcome} are outcomes: in mode \`asynch\` status tells them.`,
      ],
      ...failing
        .filter((each) => !endsInItsCode(each))
        .map(({ msisdn, code: fault, detail }) => [
          code(`+${msisdn}`),
          '',
          `For monitoring: always fault ${fault}, \`${detail}\`.`,
        ]),
    ],
  ),
);
