/**
 * What all operations share: profiles, services, status codes and faults. Which device a profile leads to is not
 * retold but asked of the code that chooses it.
 */
import { html } from 'hono/html';
import { type FaultCode, faultTable } from '../../protocol/fault.ts';
import { type ProfileName, profileNames, type ServiceName } from '../../protocol/requests.ts';
import type { ProtocolRules } from '../../protocol/rules.ts';
import { profileUriText, servicesByUri } from '../../protocol/uris.ts';
import { chooseMethod } from '../../registry/profile-selection.ts';
import type { Subscriber } from '../../registry/subscriber.ts';
import { testUsers } from '../../registry/test-users.ts';
import { authoritiesOf } from './example-requests.ts';
import { breakable, type Html, heading, table, words } from './markup.ts';
import type { MemberRow } from './members.ts';
import { membersTable } from './members-table.ts';
import { faultWords, profileWords, serviceWords, statusRows } from './reference-words.ts';

const faultLink = (code: FaultCode): Html => html`<a href="#fault-${code}">fault ${code}</a>`;

const otherDialects = ({ authorities }: ProtocolRules): readonly unknown[] => {
  const [first, ...others] = authorities;
  if (others.length === 0) return [];
  return words(
    `In place of \`${first}\` these hosts mean the same: ${others.map((other) => `\`${other}\``).join(', ')}. An answer uses the one that the request used.`,
  );
};

/** Somebody of the kind, to choose a method for. */
const sample = (fits: (user: Subscriber) => boolean): Subscriber | undefined =>
  testUsers.find((user) => user.alwaysFaults === undefined && fits(user));

const sampleUsers = (): readonly (readonly [title: string, user: Subscriber | undefined])[] => [
  ['Unknown number', undefined],
  ['SIM, EC key', sample(({ sim, apps }) => sim?.algorithm === 'EC' && apps.length === 0)],
  ['SIM, RSA key', sample(({ sim, apps }) => sim?.algorithm === 'RSA' && apps.length === 0)],
  ['App', sample(({ sim, apps }) => sim === undefined && apps.length > 0)],
  ['SIM and App', sample(({ sim, apps }) => sim !== undefined && apps.length > 0)],
];

const chosenFor = (user: Subscriber | undefined, profile: ProfileName): Html => {
  const chosen = chooseMethod(user, profile);
  if (!chosen.ok) return html`<span class="quiet">${faultLink(chosen.fault.code)}</span>`;
  const { answerProfile } = chosen.value;
  return answerProfile === profile && chosen.value.sscd === undefined
    ? html`text message`
    : html`<code>${answerProfile}</code>`;
};

export const profilesSection = ({ rules }: { readonly rules: ProtocolRules }): Html => {
  const authority = rules.authorities[0] ?? '';
  const users = sampleUsers();
  return html`<section aria-labelledby="profiles">
${heading(2, 'profiles', 'Signature profiles')}
<p>${words(
    `\`SignatureProfile\` says how to sign: \`${profileUriText({ authority, name: 'Any-LoA4' })}\` and so on. The table shows which method a person with these devices is asked by; an answer names that method.`,
  )} ${otherDialects(rules)}</p>
${table(
  'Signature profiles',
  [
    { title: 'Profile', kind: 'name' },
    { title: 'Meaning', kind: 'prose' },
    ...users.map(([title]) => ({ title, kind: 'tight' as const })),
  ],
  profileNames.map((name) => ({
    cells: [
      html`<code>${breakable(name)}</code>`,
      words(profileWords[name]),
      ...users.map(([, user]) => chosenFor(user, name)),
    ],
  })),
)}
<p class="after">A device that is not active counts only when no other is. A SIM shows one prompt at a time: while it does, another request is ${faultLink(406)}. On the App a new request takes the place of the one before, which ends with ${faultLink(401)}.</p>
</section>`;
};

/** Each service in the spelling of the interface's text. */
const serviceUris = (rules: ProtocolRules): ReadonlyMap<ServiceName, string> => {
  const { main, lang } = authoritiesOf(rules);
  const uris = new Map([...servicesByUri([main])].map(([uri, name]) => [name, uri]));
  for (const [uri, name] of servicesByUri([lang])) if (name === 'userLang') uris.set(name, uri);
  return uris;
};

export const servicesSection = ({ rules }: { readonly rules: ProtocolRules }): Html =>
  html`<section aria-labelledby="services">
${heading(2, 'services', 'Additional services')}
<p>${words('`AdditionalServices` asks for more than a signature. Each element names its service in `Description`.')} ${otherDialects(rules)}</p>
${table(
  'Additional services',
  [
    { title: 'Description', kind: 'name' },
    { title: 'Send with it' },
    { title: 'What happens', kind: 'prose' },
  ],
  [...serviceUris(rules)].map(([name, uri]) => ({
    cells: [
      html`<code>${breakable(uri)}</code>`,
      words(serviceWords[name].member),
      words(serviceWords[name].effect),
    ],
  })),
)}
</section>`;

export const statusSection = (): Html => html`<section aria-labelledby="status-codes">
${heading(2, 'status-codes', 'Status codes')}
<p>${words('`Status.StatusCode.Value` in an answer with HTTP status 200.')}</p>
${table(
  'Status codes',
  [
    { title: 'Value', kind: 'name' },
    { title: 'StatusMessage', kind: 'tight' },
    { title: 'Where', kind: 'tight' },
    { title: 'Meaning', kind: 'prose' },
  ],
  statusRows.map(({ code, message, where, meaning }) => ({
    cells: [html`<code>${code}</code>`, html`<code>${message}</code>`, where, words(meaning)],
  })),
)}
</section>`;

/** @param members Of the Fault object. */
export const faultsSection = (members: readonly MemberRow[]): Html => {
  const codes = Object.keys(faultTable).map((code) => Number(code) as FaultCode);
  return html`<section aria-labelledby="faults">
${heading(2, 'faults', 'Faults')}
<p>${words(
    'HTTP status 500. The code is in `Fault.Code.SubCode.Value`, after an underscore: `_401`. `Detail` is for people; for a mistake in the request it names the member, never its value. Decide by the code.',
  )}</p>
${table(
  'Fault codes',
  [
    { title: 'Code', kind: 'name' },
    { title: 'Reason', kind: 'tight' },
    { title: 'Side', kind: 'tight' },
    { title: 'When', kind: 'prose' },
    { title: 'What to do', kind: 'prose' },
  ],
  codes.map((code) => ({
    id: `fault-${code}`,
    cells: [
      html`<code>${code}</code>`,
      html`<code>${faultTable[code].reason}</code>`,
      faultTable[code].blame,
      words(faultWords[code].when),
      words(faultWords[code].todo),
    ],
  })),
)}
<p class="after">${words(
    'Other HTTP statuses have a Fault as their body too: 405 for a method that is not POST, 404 for an address below `/rest/` that does not exist, 400 and 408 for what is not valid HTTP or did not arrive in time.',
  )}</p>
${membersTable('Members of Fault', 'answer', members)}
</section>`;
};
