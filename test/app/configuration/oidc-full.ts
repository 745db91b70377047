/** Every key of `oidc`, each with a value that differs from its default. */
import { generateKeyPairSync } from 'node:crypto';

export const secretHash = `$scrypt$ln=15,r=8,p=3$${'A'.repeat(22)}$${'B'.repeat(43)}`;

export const publicJwkOf = (kty: 'RSA' | 'EC' | 'OKP', bitsOrCurve?: number | string) => {
  switch (kty) {
    case 'RSA':
      return generateKeyPairSync('rsa', {
        modulusLength: Number(bitsOrCurve ?? 2048),
      }).publicKey.export({
        format: 'jwk',
      });
    case 'EC':
      return generateKeyPairSync('ec', {
        namedCurve: String(bitsOrCurve ?? 'P-256'),
      }).publicKey.export({
        format: 'jwk',
      });
    case 'OKP':
      return generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  }
};

const key = publicJwkOf('EC');
const limit = { requests: 7, perSeconds: 9 };

export const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1"/></svg>';

export const fullOidc = {
  requestUriSeconds: 61,
  codeSeconds: 62,
  accessTokenSeconds: 3601,
  idTokenSeconds: 3602,
  refreshTokenDays: 1.5,
  interactionSeconds: 901,
  promptSeconds: 70,
  singleSignOnSeconds: 30,
  keys: { publishSeconds: 100, keepSeconds: 90_000 },
  limits: {
    pushedPerClient: limit,
    pushedPerAddress: limit,
    promptsPerNumber: limit,
    promptsPerClient: limit,
    promptsPerAddress: limit,
    promptsPerNumberLong: limit,
    guessesPerNumber: limit,
    loginsPerAddress: limit,
    refusedTokensPerAddress: limit,
  },
  tenants: [
    {
      id: 'main',
      name: 'Example',
      branding: { color: '#Aa0011', logoSvg: logo },
      loginText: {
        en: '#CLIENT#: sign in? #SESSION# #NUMBER#',
        de: '#CLIENT#: anmelden? #SESSION#',
        fr: '#CLIENT#: se connecter? #SESSION#',
        it: '#CLIENT#: accedere? #SESSION#',
      },
      clients: [
        {
          id: 'shop',
          name: 'Shop',
          authentication: 'private_key_jwt',
          keys: [{ ...key, kid: 'one', use: 'sig', alg: 'ES256' }],
          redirectUris: ['https://shop.example/callback', 'http://127.0.0.1:3000/callback'],
          postLogoutRedirectUris: ['https://shop.example/'],
          scopes: ['phone', 'openid'],
          refreshTokens: true,
          idTokenAlgorithm: 'ES256',
          responseAlgorithm: 'EdDSA',
          parRequired: true,
          parSuccessStatus: 201,
          strictParameters: false,
          loginHintAllowed: true,
          dtbdAllowed: true,
          textMessageLogin: true,
          numberMatching: true,
          phoneStart: 'offered',
          loginText: { en: 'Enter the shop? #SESSION#' },
          signedRequestRequired: true,
          dpopRequired: true,
          sector: 'shop.example',
        },
        { id: 'site', name: 'Site', secretHash, redirectUris: ['https://site.example/cb'] },
      ],
    },
    { id: 'other', name: 'Other' },
  ],
};
