/**
 * One pushed request, the same for all sides: what a web application sends to log a person in.
 */
export const parClient = {
  id: 'bench',
  secret: 'bench-secret-of-some-length',
  redirectUri: 'https://shop.example/callback',
} as const;

export const parTemplate = new URLSearchParams({
  response_type: 'code',
  client_id: parClient.id,
  redirect_uri: parClient.redirectUri,
  scope: 'openid profile phone',
  nonce: 'n-0S6_WzA2Mj-8eZ3c',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeGDPTKqcVJ2mrJsiGH0',
  code_challenge_method: 'S256',
  acr_values: 'mid_al3_any',
  login_hint: '+41700092501',
})
  .toString()
  .concat('&state=s{{n}}');

export const parHeaders = [
  'Content-Type: application/x-www-form-urlencoded',
  `Authorization: Basic ${Buffer.from(`${parClient.id}:${parClient.secret}`).toString('base64')}`,
];
