import { z } from 'zod';
import type { ProtocolRules } from '../protocol/rules.ts';
import { allowance, type DeepReadonly, positive, refuseRepeats, section, whole } from './entry.ts';
import { languagesTooLong, loginText, tooLong } from './login-text.ts';
import { logoSvg } from './logo-svg.ts';
import { oauthClientEntry, shownName } from './oauth-client.ts';

/**
 * `oidc`: logins for other applications, with OpenID Connect.
 *
 * A tenant is an issuer of its own: keys, clients, looks. The first one is served at `/oidc`, every other at `/oidc/t/<id>`.
 */
const daySeconds = 86_400;

const limits = section({
  pushedPerClient: allowance(600, 60).describe('Pushed and backchannel requests of one client.'),
  pushedPerAddress: allowance(1200, 60).describe('Pushed requests of public clients from one address.'),
  promptsPerNumber: allowance(6, 60).describe('Prompts on one phone, whoever asks for them.'),
  promptsPerNumberLong: allowance(40, 86_400).describe(
    'The same over a long time. Test numbers are not limited by it.',
  ),
  guessesPerNumber: allowance(15, 86_400).describe('One-time passwords that are typed for one number.'),
  promptsPerClient: allowance(600, 60).describe('Prompts that one client causes.'),
  promptsPerAddress: allowance(30, 60).describe('Prompts that are asked for from one address.'),
  loginsPerAddress: allowance(120, 60).describe('Logins that browsers at one address begin.'),
  refusedTokensPerAddress: allowance(60, 60).describe(
    'Failed authentications of clients from one address, and codes and tokens of public ones that do not exist.',
  ),
});

const branding = section({
  color: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, { error: 'must be a colour of the form #rrggbb' })
    .default('#1f5fbf')
    .describe('Of buttons and links.'),
  logoSvg: logoSvg
    .optional()
    .describe(
      'Text of an SVG file that stands above the title: 32 KiB at most, without scripts and references.',
    ),
});

const refuseRepeatedIds = refuseRepeats(['id'], () => 'must not occur twice in the list');

const tenantEntry = z
  .strictObject({
    id: z
      .string()
      .regex(/^[a-z0-9-]{1,32}$/, { error: 'must be 1 to 32 lower-case letters, digits or -' })
      .describe('Names its keys and, but for the first tenant, its issuer. Never to be changed.'),
    name: shownName.describe('What people are told where they are.'),
    branding: branding.describe('How its pages look.'),
    loginText: loginText.describe(
      'What the phone shows, by language. `#CLIENT#` is who asks, `#SESSION#` (required) the code that the page shows, too, `#NUMBER#` the number to match.',
    ),
    clients: z
      .array(oauthClientEntry)
      .superRefine(refuseRepeatedIds)
      .prefault([])
      .describe('Applications that may send people here.'),
  })
  .superRefine((tenant, context) => {
    const names = ['', ...tenant.clients.map(({ name }) => name)];
    const languages = names.flatMap((name) => languagesTooLong(tenant.loginText, name));
    for (const language of new Set(languages)) {
      context.addIssue({ code: 'custom', path: ['loginText', language], message: tooLong });
    }
  });

/** An issuer of its own, with own keys, clients and looks. */
export type OauthTenant = DeepReadonly<z.output<typeof tenantEntry>>;
export type OauthBranding = OauthTenant['branding'];

const keys = section({
  publishSeconds: whole(0, 30 * daySeconds, 3600).describe(
    'From the publication of a new key to its first signature: as long as others may cache the key set.',
  ),
  keepSeconds: whole(1, 365 * daySeconds, daySeconds).describe(
    'From then until the old key is withdrawn. Not less than `idTokenSeconds`.',
  ),
});

const oidcObject = z.strictObject({
  requestUriSeconds: whole(1, 600, 60).describe('How long a pushed request can be begun.'),
  codeSeconds: whole(1, 600, 60).describe('How long a code can be redeemed.'),
  accessTokenSeconds: whole(1, daySeconds, 3600).describe('How long an access token is valid.'),
  idTokenSeconds: whole(1, daySeconds, 3600).describe('How long an ID token is valid.'),
  refreshTokenDays: positive(3650, 14).describe('How long a client with refresh tokens stays logged in.'),
  interactionSeconds: whole(1, 3600, 900).describe(
    'How long the browser has to come to an end, from the first page on. Not less than `promptSeconds`.',
  ),
  promptSeconds: z
    .int()
    .min(1)
    .max(3600)
    .optional()
    .describe(
      'How long the phone shows the prompt. Within the bounds of `protocol`; without it 80, or what is nearest to it there.',
    ),
  singleSignOnSeconds: whole(0, 30 * daySeconds, 0).describe(
    'How long a login counts for further clients without asking the phone again; 0 asks each time.',
  ),
  keys: keys.describe('Rotation of the keys that sign.'),
  limits: limits.describe('What one caller may do before it has to wait.'),
  tenants: z
    .array(tenantEntry)
    .min(1)
    .superRefine(refuseRepeatedIds)
    .prefault([{ id: 'default', name: 'Paraph' }])
    .describe('Issuers. The first is the default.'),
});

export const oidcSettings = oidcObject
  .superRefine((settings, context) => {
    if (settings.keys.keepSeconds < settings.idTokenSeconds) {
      const message = 'must not be less than idTokenSeconds';
      context.addIssue({ code: 'custom', path: ['keys', 'keepSeconds'], message });
    }
  })
  .transform(({ refreshTokenDays, ...rest }) => ({
    ...rest,
    refreshTokenSeconds: Math.max(1, Math.round(refreshTokenDays * daySeconds)),
  }))
  .prefault({});

/** Still without the prompt's time, which depends on what the protocol allows. */
type Settings = DeepReadonly<z.output<typeof oidcSettings>>;
export type OauthSettings = Omit<Settings, 'promptSeconds'> & { readonly promptSeconds: number };
export type OauthLimits = OauthSettings['limits'];

type Bounds = Omit<ProtocolRules, 'authorities'>;

const usualPromptSeconds = 80;

/** The time of the prompt; what was not given adapts itself, so that a narrow protocol needs no `oidc` beside it. */
export const promptSecondsOf = (
  settings: Settings,
  { minTimeoutSeconds, maxTimeoutSeconds }: Bounds,
): number =>
  settings.promptSeconds ??
  Math.max(minTimeoutSeconds, Math.min(maxTimeoutSeconds, usualPromptSeconds, settings.interactionSeconds));

/** Key within `oidc` and what is wrong with it, where the prompt's time fits something else badly. */
export const promptProblem = (settings: Settings, bounds: Bounds): readonly [string, string] | undefined => {
  const { minTimeoutSeconds, maxTimeoutSeconds } = bounds;
  // Bounds in the wrong order are told where they stand.
  if (minTimeoutSeconds > maxTimeoutSeconds) return undefined;
  const promptSeconds = promptSecondsOf(settings, bounds);
  if (promptSeconds < minTimeoutSeconds || promptSeconds > maxTimeoutSeconds) {
    return ['promptSeconds', 'must be within protocol.minTimeoutSeconds and protocol.maxTimeoutSeconds'];
  }
  return settings.interactionSeconds < promptSeconds
    ? ['interactionSeconds', 'must not be less than promptSeconds']
    : undefined;
};
