/**
 * `oidc` in the configuration: tenants and their clients. A tenant is an issuer with its own keys,
 * clients and style. The first one is served at `/oidc`, others at `/oidc/t/<id>`. Members that
 * give a client more rights are off by default.
 *
 * Sources: OpenID Connect Core and Registration, RFC 9126 (PAR), RFC 9449 (DPoP).
 */
import { z } from 'zod';
import type { ProtocolRules } from '../../packages/protocol/src/rules.ts';
import {
  allowance,
  type DeepReadonly,
  flag,
  positive,
  refuseRepeats,
  section,
  whole,
} from './entry.ts';
import { languagesTooLong, loginText, tooLong } from './login-text.ts';
import { logoSvg } from './logo-svg.ts';
import { storedPassword } from './passwords.ts';
import { publicJwks } from './public-jwk.ts';
import { isAppAddress, isListeningApp, isSecureAddress } from './web-address.ts';

export const oauthScopes = [
  'openid',
  'offline_access',
  'profile',
  'phone',
  'mid_location',
  'mid_profile',
  'mid_cms',
] as const;
export type OauthScope = (typeof oauthScopes)[number];

/** The levels of assurance, weakest first. */
export const acrValues = [
  'mid_al2_any',
  'mid_al3_any',
  'mid_al3_simcard',
  'mid_al3_mobileapp',
  'mid_al4_any',
] as const;
export type AcrValue = (typeof acrValues)[number];

/** The ways of client authentication. `client_secret` allows both of the two after it. */
export const clientAuthentications = [
  'client_secret',
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'none',
] as const;

/** Algorithms for ID tokens and JARM answers, and for request objects and client assertions. */
export const signingAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const;

/** A client id of characters that form-encoding keeps: some clients do not encode in HTTP Basic. */
const clientId = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,128}$/, { error: 'must be 1 to 128 letters, digits, dots, _ or -' });

const shownName = z
  .string()
  .max(64)
  .regex(/^[^\s\p{C}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\s\p{C}])?$/u, {
    error: 'must be one line of text, without spaces at its ends',
  });

// Later checks parse these addresses.
const redirectUri = z
  .string()
  .max(2000, { abort: true })
  .refine((uri) => isSecureAddress(uri) || isAppAddress(uri), {
    error:
      'must be an absolute https address without fragment, an http one to this machine, or one of an app whose scheme has a dot',
    abort: true,
  });

const clientObject = z.strictObject({
  id: clientId.describe('`client_id`. Users do not see it.'),
  name: shownName.describe('Shown to people, on the page and on the phone.'),
  authentication: z
    .enum(clientAuthentications)
    .default('client_secret')
    .describe(
      'How it authenticates, at every endpoint. `client_secret`: by HTTP Basic or in the form. `none` is a public client, such as an app, and needs PKCE.',
    ),
  secretHash: storedPassword
    .optional()
    .describe('Stored form of its secret, from `paraph clients add` or `paraph hash-password`.'),
  keys: publicJwks
    .prefault([])
    .describe('Its public keys (JWK: RSA of 2048 bits or more, P-256, Ed25519).'),
  redirectUris: z
    .array(redirectUri)
    .max(50)
    .default([])
    .describe('Where people may be sent back to, exactly. Without any: no login by browser.'),
  postLogoutRedirectUris: z
    .array(redirectUri)
    .max(50)
    .default([])
    .describe('Where people may be sent to after a logout.'),
  scopes: z
    .array(z.enum(oauthScopes))
    .default(['openid', 'profile'])
    .describe('Must contain `openid`; `offline_access` comes from `refreshTokens`.'),
  refreshTokens: flag(false, 'Allow refresh tokens: adds the scope `offline_access`.'),
  idTokenAlgorithm: z.enum(signingAlgorithms).default('RS256').describe('Signs its ID tokens.'),
  responseAlgorithm: z
    .enum(signingAlgorithms)
    .default('RS256')
    .describe('Signs authorisation answers as a JWT (JARM).'),
  parRequired: flag(false, 'It must push its requests (RFC 9126).'),
  parSuccessStatus: z
    .union([z.literal(200), z.literal(201)], { error: 'must be 200 or 201' })
    .default(200)
    .describe('Status for a pushed request. Generic libraries accept 201 only.'),
  strictParameters: flag(true, 'Refuse unknown scopes and `acr_values`; otherwise ignore them.'),
  loginHintAllowed: flag(false, 'Allow `login_hint`, also with test numbers of the sandbox.'),
  dtbdAllowed: flag(false, 'Allow `dtbd`, the text that the phone shows.'),
  textMessageLogin: flag(
    false,
    'Allow a password by text message, for `mid_al2_any` and numbers that cannot sign.',
  ),
  numberMatching: flag(false, 'Page and phone show a number to compare.'),
  phoneStart: z
    .enum(['off', 'offered', 'required'])
    .default('off')
    .describe(
      'The device that signs begins its logins: by the QR code of the login page, or by a button on the same device. `required`: a number alone does not.',
    ),
  loginText: loginText.describe("In place of the tenant's."),
  signedRequestRequired: flag(false, 'It must sign its requests (RFC 9101).'),
  dpopRequired: flag(false, 'Its tokens are bound to a key (RFC 9449).'),
  sector: z
    .string()
    .regex(/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/, {
      error: 'must be a host name in lower case',
    })
    .optional()
    .describe(
      'Clients of one sector see the same `sub`. Default: host of the redirect addresses, else `id`.',
    ),
});

type Entry = z.output<typeof clientObject>;

/** The different hosts of the redirect URIs. The address of an app has no host. */
const hostsOf = ({ redirectUris }: Entry): readonly string[] => [
  ...new Set(
    redirectUris.filter((uri) => /^https?:/.test(uri)).map((uri) => new URL(uri).hostname),
  ),
];

const sectorOf = (entry: Entry): string => entry.sector ?? hostsOf(entry)[0] ?? entry.id;

/**
 * Whether a redirect URI suits a native app (RFC 8252 7): such an app listens on this machine
 * without TLS, or claims https addresses of its own.
 */
const fitsNativeApp = (uri: string): boolean => {
  const { protocol, hostname } = new URL(uri);
  return isAppAddress(uri) || (protocol === 'http:') === isListeningApp(hostname);
};

/** Violated rules that concern several keys, each as the key and the error in words. */
const contradictions = (entry: Entry): readonly (readonly [keyof Entry, string])[] => {
  const { authentication, secretHash, keys, redirectUris, postLogoutRedirectUris, scopes } = entry;
  const isPublic = authentication === 'none';
  const hasSecret = authentication.startsWith('client_secret');
  const usesKeys = authentication === 'private_key_jwt' || entry.signedRequestRequired;
  const checks: readonly (readonly [boolean, keyof Entry, string])[] = [
    [hasSecret && secretHash === undefined, 'secretHash', `must be there for ${authentication}`],
    [
      !hasSecret && secretHash !== undefined,
      'secretHash',
      `must not be there for ${authentication}`,
    ],
    [
      usesKeys && keys.length === 0,
      'keys',
      'must not be empty for private_key_jwt and signedRequestRequired',
    ],
    [
      isPublic && redirectUris.length === 0,
      'redirectUris',
      'must not be empty for a public client',
    ],
    [
      !isPublic &&
        [...redirectUris, ...postLogoutRedirectUris].some((uri) => !isSecureAddress(uri)),
      redirectUris.every(isSecureAddress) ? 'postLogoutRedirectUris' : 'redirectUris',
      'may be those of an app only when authentication is none: an app cannot keep a secret',
    ],
    [
      postLogoutRedirectUris.some(isAppAddress) && !redirectUris.some(isAppAddress),
      'postLogoutRedirectUris',
      'may be those of an app only when redirectUris have one, too',
    ],
    [
      redirectUris.some(isAppAddress) &&
        ![...redirectUris, ...postLogoutRedirectUris].every(fitsNativeApp),
      'redirectUris',
      'beside the address of an app: http only to localhost, 127.0.0.1 or [::1], and https to none of these',
    ],
    [!scopes.includes('openid'), 'scopes', 'must contain openid'],
    [
      scopes.includes('offline_access') && !entry.refreshTokens,
      'scopes',
      'may contain offline_access only when refreshTokens is true',
    ],
    [
      entry.sector === undefined && hostsOf(entry).length > 1,
      'sector',
      'must be there when redirectUris have several hosts',
    ],
    [
      !URL.canParse(`https://${sectorOf(entry)}/`),
      'sector',
      'must be there when id is no host name',
    ],
  ];
  return checks.flatMap(([wrong, key, message]) => (wrong ? [[key, message] as const] : []));
};

/** The scopes of a client, in the order of `oauthScopes`. */
const scopesOf = ({ scopes, refreshTokens }: Entry): OauthScope[] =>
  oauthScopes.filter(
    (name) => scopes.includes(name) || (name === 'offline_access' && refreshTokens),
  );

/** @param more The members that parts add to a client. */
const clientEntry = (more: z.ZodRawShape) =>
  (clientObject.extend(more) as typeof clientObject)
    .superRefine((entry, context) => {
      for (const [key, message] of contradictions(entry)) {
        context.addIssue({ code: 'custom', path: [key], message });
      }
      for (const language of languagesTooLong(entry.loginText, entry.name)) {
        context.addIssue({ code: 'custom', path: ['loginText', language], message: tooLong });
      }
    })
    .transform((entry) => ({ ...entry, scopes: scopesOf(entry), sector: sectorOf(entry) }));

export type OauthClient = DeepReadonly<z.output<ReturnType<typeof clientEntry>>>;
export type PublicJwk = OauthClient['keys'][number];
export type LoginText = OauthClient['loginText'];

/** A client with all defaults, without what parts add. */
export const plainClient = clientObject.omit({ id: true, name: true, sector: true }).parse({});

const daySeconds = 86_400;

const limits = section({
  pushedPerClient: allowance(600, 60).describe(
    'Requests for logins that one client sends from its server.',
  ),
  pushedPerAddress: allowance(1200, 60).describe(
    'Pushed requests of public clients from one address.',
  ),
  promptsPerNumber: allowance(6, 60).describe(
    'Prompts on one phone, whoever asks for them; not for test numbers.',
  ),
  promptsPerNumberLong: allowance(40, 86_400).describe('The same over a long time.'),
  guessesPerNumber: allowance(15, 86_400).describe(
    'One-time passwords that are typed for one number.',
  ),
  promptsPerClient: allowance(600, 60).describe('Prompts that one client causes.'),
  promptsPerAddress: allowance(30, 60).describe('Prompts that are asked for from one address.'),
  loginsPerAddress: allowance(120, 60).describe('Logins that browsers at one address begin.'),
  refusedTokensPerAddress: allowance(60, 60).describe(
    'Failed authentications, and wrong codes and tokens of public clients.',
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
    .describe('Text of an SVG file: 32 KiB at most, without scripts and references.'),
});

const refuseRepeatedIds = refuseRepeats(['id'], () => 'must not occur twice in the list');

const tenantEntry = (more: z.ZodRawShape) =>
  z
    .strictObject({
      id: z
        .string()
        .regex(/^[a-z0-9-]{1,32}$/, { error: 'must be 1 to 32 lower-case letters, digits or -' })
        .describe('Names its keys and, but for the first tenant, its issuer. Never to be changed.'),
      name: shownName.describe('Shown to people on the pages.'),
      branding: branding.describe('How its pages look.'),
      loginText: loginText.describe(
        'What the phone shows. `#CLIENT#`: who asks; `#SESSION#` (required): the code; `#NUMBER#`: the number to match.',
      ),
      clients: z
        .array(clientEntry(more))
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

export type OauthTenant = DeepReadonly<z.output<ReturnType<typeof tenantEntry>>>;

const keys = section({
  publishSeconds: whole(0, 30 * daySeconds, 3600).describe(
    'From publication to first signature: how long others cache the key set.',
  ),
  keepSeconds: whole(1, 365 * daySeconds, daySeconds).describe(
    'Until the old key is withdrawn. At least `idTokenSeconds`.',
  ),
});

const oidcObject = z.strictObject({
  requestUriSeconds: whole(1, 600, 60).describe('How long a pushed request can be begun.'),
  codeSeconds: whole(1, 600, 60).describe('How long a code can be redeemed.'),
  accessTokenSeconds: whole(1, daySeconds, 3600).describe('How long an access token is valid.'),
  idTokenSeconds: whole(1, daySeconds, 3600).describe('How long an ID token is valid.'),
  refreshTokenDays: positive(3650, 14).describe(
    'How long a client with refresh tokens stays logged in.',
  ),
  interactionSeconds: whole(1, 3600, 900).describe(
    'How long a login in the browser may take. At least `promptSeconds`.',
  ),
  promptSeconds: z
    .int()
    .min(1)
    .max(3600)
    .optional()
    .describe(
      'How long the phone shows the prompt, within the bounds of `protocol`. Without it: 80, or the nearest bound.',
    ),
  singleSignOnSeconds: whole(0, 30 * daySeconds, 0).describe(
    'How long a login counts for other clients; 0 asks the phone each time.',
  ),
  keys: keys.describe('Rotation of the keys that sign.'),
  limits: limits.describe('What one caller may do before it has to wait.'),
});

/** @param more The members that parts add to a client. */
export const oidcSettings = (more: z.ZodRawShape) =>
  oidcObject
    .extend({
      tenants: z
        .array(tenantEntry(more))
        .min(1)
        .superRefine(refuseRepeatedIds)
        .prefault([{ id: 'default', name: 'Paraph' }])
        .describe('Issuers. The first is the default.'),
    })
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

/** The settings without the time of the prompt, which depends on the bounds of the protocol. */
type Settings = DeepReadonly<z.output<ReturnType<typeof oidcSettings>>>;
export type OauthSettings = Omit<Settings, 'promptSeconds'> & { readonly promptSeconds: number };
export type OauthLimits = OauthSettings['limits'];

type Bounds = Omit<ProtocolRules, 'authorities'>;

const usualPromptSeconds = 80;

/** The time of the prompt. The default adapts to the bounds. */
export const promptSecondsOf = (
  settings: Settings,
  { minTimeoutSeconds, maxTimeoutSeconds }: Bounds,
): number =>
  settings.promptSeconds ??
  Math.max(
    minTimeoutSeconds,
    Math.min(maxTimeoutSeconds, usualPromptSeconds, settings.interactionSeconds),
  );

/** The key within `oidc` and the error, when the time of the prompt does not fit the bounds. */
export const promptProblem = (
  settings: Settings,
  bounds: Bounds,
): readonly [string, string] | undefined => {
  const { minTimeoutSeconds, maxTimeoutSeconds } = bounds;
  // Wrong bounds are reported at their own key.
  if (minTimeoutSeconds > maxTimeoutSeconds) return undefined;
  const promptSeconds = promptSecondsOf(settings, bounds);
  if (promptSeconds < minTimeoutSeconds || promptSeconds > maxTimeoutSeconds) {
    return [
      'promptSeconds',
      'must be within protocol.minTimeoutSeconds and protocol.maxTimeoutSeconds',
    ];
  }
  return settings.interactionSeconds < promptSeconds
    ? ['interactionSeconds', 'must not be less than promptSeconds']
    : undefined;
};
