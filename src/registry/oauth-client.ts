/**
 * Who may send people here to log in: OpenID tenants and their clients, as the configuration describes them.
 *
 * A tenant is an issuer of its own, with own keys, clients and looks. The first one is served at `/oidc`, every other at
 * `/oidc/t/<id>`.
 *
 * Sources: OpenID Connect Core and Registration, RFC 9126 (PAR), RFC 9449 (DPoP), OpenID Connect CIBA.
 */
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

/** Authentication context classes, weakest first. */
export const acrValues = [
  'mid_al2_any',
  'mid_al3_any',
  'mid_al3_simcard',
  'mid_al3_mobileapp',
  'mid_al4_any',
] as const;
export type AcrValue = (typeof acrValues)[number];

export const loginLanguages = ['en', 'de', 'fr', 'it'] as const;
export type LoginLanguage = (typeof loginLanguages)[number];

export const clientAuthentications = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'none',
] as const;
export type ClientAuthentication = (typeof clientAuthentications)[number];

/** Of our signatures over ID tokens and JARM answers, and of clients' over request objects and assertions. */
export const signingAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

/** A public key of a client, as RFC 7517 writes it. */
export type PublicJwk = Readonly<Record<string, unknown>> & { readonly kty: string };

/** The text that the phone shows, by language. `#CLIENT#`, `#SESSION#` and `#NUMBER#` are filled in. */
export type LoginText = { readonly [Language in LoginLanguage]?: string | undefined };

export interface OauthClient {
  readonly id: string;
  /** What people are told who asks. */
  readonly name: string;
  readonly authentication: ClientAuthentication;
  /** Stored form (scrypt), for the two methods with a secret. */
  readonly secretHash: string | undefined;
  /** For private_key_jwt and signed request objects. */
  readonly keys: readonly PublicJwk[];
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  /** What it may ask for; always has `openid`. */
  readonly scopes: readonly OauthScope[];
  readonly refreshTokens: boolean;
  readonly idTokenAlgorithm: SigningAlgorithm;
  /** Of JWT-secured authorisation answers (JARM). */
  readonly responseAlgorithm: SigningAlgorithm;
  /** It cannot come to the authorisation endpoint without a pushed request. */
  readonly parRequired: boolean;
  /** The interface says 200, RFC 9126 says 201; generic libraries accept 201 only. */
  readonly parSuccessStatus: 200 | 201;
  /** Unknown scopes and acr_values are refused; otherwise they are left out. */
  readonly strictParameters: boolean;
  /** It may name the user's number, test numbers among them. */
  readonly loginHintAllowed: boolean;
  /** It may bring the text that the phone shows (`dtbd`). */
  readonly dtbdAllowed: boolean;
  /** Who has nothing that can sign may log in with a password by text message, where `mid_al2_any` is asked for. */
  readonly textMessageLogin: boolean;
  /** The page and the phone show a number that the user compares. */
  readonly numberMatching: boolean;
  readonly loginText: LoginText;
  readonly signedRequestRequired: boolean;
  readonly dpopRequired: boolean;
  /** Backchannel logins (CIBA); only with private_key_jwt. */
  readonly backchannel:
    | { readonly delivery: 'poll' }
    | { readonly delivery: 'ping'; readonly notificationEndpoint: string }
    | undefined;
  /** Host name within which the user's `sub` is the same; by default that of the redirect addresses. */
  readonly sector: string;
}

export interface OauthBranding {
  /** `#rrggbb` of buttons and links. */
  readonly color: string;
  /** The text of an SVG file that stands above the page's title. */
  readonly logoSvg: string | undefined;
}

export interface OauthTenant {
  readonly id: string;
  /** What people are told where they are. */
  readonly name: string;
  readonly branding: OauthBranding;
  readonly loginText: LoginText;
  readonly clients: readonly OauthClient[];
}

/** What one caller may do before it has to wait. */
export interface Allowance {
  readonly requests: number;
  readonly perSeconds: number;
}

export interface OauthLimits {
  /** Pushed requests and backchannel requests of one client. */
  readonly pushedPerClient: Allowance;
  /** Pushed requests of public clients from one address. */
  readonly pushedPerAddress: Allowance;
  /** Prompts on one phone, whoever asks. */
  readonly promptsPerNumber: Allowance;
  /** The same over a long time: who only waits between two prompts is stopped by this. Test numbers have none. */
  readonly promptsPerNumberLong: Allowance;
  /** One-time passwords that are typed for one number, right or wrong. */
  readonly guessesPerNumber: Allowance;
  readonly promptsPerClient: Allowance;
  readonly promptsPerAddress: Allowance;
  /** Logins that browsers at one address begin. */
  readonly loginsPerAddress: Allowance;
  /** Failed authentications of clients, and codes and tokens of public ones that do not exist, from one address. */
  readonly refusedTokensPerAddress: Allowance;
}

export interface OauthSettings {
  readonly requestUriSeconds: number;
  readonly codeSeconds: number;
  readonly accessTokenSeconds: number;
  readonly idTokenSeconds: number;
  readonly refreshTokenSeconds: number;
  /** How long the browser has to come to an end, from the first page on. */
  readonly interactionSeconds: number;
  /** How long the phone shows the prompt. */
  readonly promptSeconds: number;
  /** How long a login counts for further clients without asking the phone again; 0 asks each time. */
  readonly singleSignOnSeconds: number;
  readonly keys: {
    /** From the publication of a new key to its first signature. */
    readonly publishSeconds: number;
    /** From then until the old key is withdrawn. */
    readonly keepSeconds: number;
  };
  readonly limits: OauthLimits;
  /** The first is the default. */
  readonly tenants: readonly OauthTenant[];
}
