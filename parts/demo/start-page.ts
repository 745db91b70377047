/** The first page: the choice of the person and of the client. */
import { html } from 'hono/html';
import { faultTable, isFaultCode } from '../../packages/protocol/src/fault.ts';
import { pageLanguages } from '../../src/http/pages/languages.ts';
import { acrValues, oauthScopes } from '../../src/registry/oauth-client.ts';
import { isSimulated, type Subscriber } from '../../src/registry/subscriber.ts';
import { testUsers } from '../../src/registry/test-users.ts';
import { type Choices, type DemoClientId, demoClientIds, firstChoices } from './login.ts';
import { banner, type Html, layout } from './markup.ts';

/** A test number, with the plus sign, and its behaviour. */
interface NumberChoice {
  readonly number: string;
  readonly does: string;
}

/** The devices of a test user: `SIM, EC key`, or `SIM and App`. */
const deviceOf = ({ sim, apps: [app] }: Subscriber): string => {
  if (sim !== undefined && app !== undefined) return 'SIM and App';
  const device = sim ?? app;
  if (device === undefined) return 'nothing';
  return `${sim === undefined ? 'App' : 'SIM'}, ${device.algorithm} key`;
};

const kindOf = ({ sim, apps }: Subscriber): 'robot' | 'person' | 'nobody' => {
  const device = (sim ?? apps[0])?.device;
  if (device === undefined || !isSimulated(device) || device.kind !== 'simulated') return 'robot';
  return device.sign === 'signs' ? 'person' : 'nobody';
};

const unlocated = ({ location: { sim } }: Subscriber): string =>
  sim !== undefined && 'errorCode' in sim ? ', cannot be located' : '';

const errorOf = ({ alwaysFaults }: Subscriber): string => {
  const code = alwaysFaults?.code ?? 900;
  return isFaultCode(code) ? `${code} ${faultTable[code].detail}` : String(code);
};

const describe = (user: Subscriber): string => {
  if (user.alwaysFaults !== undefined) return errorOf(user);
  switch (kindOf(user)) {
    case 'robot':
      return `robot with ${deviceOf(user)}${unlocated(user)}`;
    case 'person':
      return `person with ${deviceOf(user)}, who signs`;
    case 'nobody':
      return `person with ${deviceOf(user)}, who never answers`;
  }
};

/**
 * The choices. Users that behave the same in a login, and differ in receipts for example, are one.
 */
const choicesOf = (users: readonly Subscriber[]): readonly NumberChoice[] => {
  const byWords = new Map<string, NumberChoice>();
  for (const user of users) {
    const does = describe(user);
    if (!byWords.has(does)) byWords.set(does, { number: `+${user.msisdn}`, does });
  }
  return [...byWords.values()];
};

/** The test users of the sandbox as a list to choose from. */
export const numberGroups = (): readonly { title: string; choices: readonly NumberChoice[] }[] => {
  const healthy = testUsers.filter(({ alwaysFaults }) => alwaysFaults === undefined);
  return [
    { title: 'Sign', choices: choicesOf(healthy.filter((user) => kindOf(user) !== 'nobody')) },
    {
      title: 'Never answer',
      choices: choicesOf(healthy.filter((user) => kindOf(user) === 'nobody')),
    },
    {
      title: 'End with an error',
      choices: choicesOf(testUsers.filter(({ alwaysFaults }) => alwaysFaults !== undefined)),
    },
  ];
};

const clientWords: Readonly<Record<DemoClientId, string>> = {
  demo: 'web application with a secret (client_secret_basic)',
  'demo-public': 'app without a secret (PKCE only)',
  'demo-201': 'like demo, answered with 201 instead of 200',
};

const languageNames: Readonly<Record<(typeof pageLanguages)[number], string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  it: 'Italiano',
};

const option = (value: string, words: string, chosen: string | undefined): Html =>
  html`<option value="${value}"${value === (chosen ?? '') ? ' selected' : ''}>${words}</option>`;

const numberField = ({ number }: Choices): Html => {
  const groups = numberGroups();
  const isListed = groups.some(({ choices }) => choices.some((choice) => choice.number === number));
  const chosen = isListed || number === '' ? number : firstChoices.number;
  return html`<div class="field"><label for="number">Number</label>
<select id="number" name="number">
${groups.map(
  ({ title, choices }) =>
    html`<optgroup label="${title}">${choices.map((choice) => option(choice.number, `${choice.number} · ${choice.does}`, chosen))}</optgroup>`,
)}
<optgroup label="Other">${option('', 'None: the login page asks for it', chosen)}</optgroup>
</select></div>
<div class="field"><label for="other">or another one</label>
<input id="other" name="other" type="tel" autocomplete="off" maxlength="40" value="${isListed ? '' : number}" aria-describedby="other-hint">
<span class="hint" id="other-hint">With country code. It is taken in place of the one above.</span></div>`;
};

const optionFields = (
  choices: Choices,
): Html => html`<details><summary>Options</summary><div class="inside">
<div class="field"><label for="client">Client</label>
<select id="client" name="client">${demoClientIds.map((id) => option(id, `${id} · ${clientWords[id]}`, choices.clientId))}</select></div>
<div class="field"><label for="acr">Level (acr_values)</label>
<select id="acr" name="acr">${option('', 'not asked for', choices.acrValue)}${acrValues.map((value) => option(value, value, choices.acrValue))}</select></div>
<div class="field"><label for="language">Language of the login page (ui_locales)</label>
<select id="language" name="language">${option('', 'the browser’s', choices.language)}${pageLanguages.map((language) => option(language, languageNames[language], choices.language))}</select></div>
<fieldset><legend>Scopes</legend><div class="two">
${oauthScopes
  .filter((scope) => scope !== 'openid')
  .map(
    (scope) =>
      html`<label class="choice"><input type="checkbox" name="scope" value="${scope}"${choices.scopes.includes(scope) ? ' checked' : ''}> <code>${scope}</code></label>`,
  )}
</div><span class="hint"><code>openid</code> is always among them.</span></fieldset>
</div></details>`;

/**
 * @param publicUrl The target of the form, also when the page has another address, because cookies
 *   belong to one host.
 * @param asksAgain Whether the form came from another address, and so maybe from another page.
 */
export const startPage = (
  publicUrl: string,
  choices: Choices = firstChoices,
  asksAgain = false,
): Html =>
  layout(
    'Log in by phone',
    html`${asksAgain ? banner('plain', 'Please send it once more', ['The form came from another address than this server’s own. Nothing has been done yet: look at what is chosen below, and go on from here.']) : ''}
<h1>Log in by phone</h1>
<p class="lead">This page plays an application that lets people log in with Paraph, and shows each step of it: what is sent, what comes back, and how it is checked. The numbers below belong to nobody; a robot signs in their place, so a login takes a moment and no phone.</p>
<form method="post" action="${publicUrl}/demo/start">
${numberField(choices)}
${optionFields(choices)}
<label class="choice"><input type="checkbox" name="straight" value="yes"${choices.straight ? ' checked' : ''}> <span>Go straight to the login page; the first steps are shown afterwards</span></label>
<div class="actions"><button type="submit">Log in</button></div>
</form>`,
  );
