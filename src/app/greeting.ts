import { writeSignRequest } from '../../packages/protocol/src/write-request.ts';
import type { Launched } from './launch.ts';

/** A synchronous signature by the robot, as one line to paste. */
const curlLine = (url: string): string => {
  const caller = {
    dialect: { authority: 'mid.vendor.ch' },
    apId: 'http://example.com',
    apTransId: 'FIRST-1',
    instant: new Date(),
  };
  const request = { msisdn: '+41700092501', text: 'Sign in to Example?' };
  const body = JSON.stringify(writeSignRequest(caller, 'synch', request));
  return `curl -s ${url}/rest/service/sign -H 'Content-Type: application/json' -d '${body}'`;
};

const numbers = [
  ['+41700092501', 'signs at once, EC P-256'],
  ['+41700092502', 'signs at once, RSA-2048'],
  ['+41700092504', 'signs, then cancels the receipt'],
  ['+41700092507', 'never answers'],
  ['+41000092401', 'cancels (fault 401); likewise 41000092 and any other fault code'],
] as const;

/** What a person sees when the product is up. */
export const greet = ({
  url,
  configuration,
  dataDirectory,
  embeddedRedis,
  consoleLink,
  greetings,
  sandboxNumbers,
  entrances,
}: Omit<Launched, 'hadAuthority' | 'stop'>): string => {
  const lines = ['', `Paraph is ready${url === undefined ? '.' : ` at ${url}`}`];
  if (url !== undefined) {
    // Logins work only at the address at which browsers reach this server.
    const publicUrl = configuration.publicUrl ?? url;
    lines.push(
      '',
      ...entrances.map(({ greeting, path }) => `  ${greeting.padEnd(31)}  ${publicUrl}${path}`),
      `  OpenID issuer                    ${publicUrl}/oidc`,
      `  sign, status, receipt, profile   ${url}/rest/service/…`,
      `  reference                        ${url}/docs`,
      `  console                          ${publicUrl}/admin`,
      `  health, metrics                  ${url}/readyz, ${url}/metrics`,
    );
    if (consoleLink !== undefined) {
      const what = 'This link logs in to the console, once, within fifteen minutes';
      lines.push('', `${what} (npx paraph users link local prints another):`, '', consoleLink);
    }
    for (const greeting of greetings) lines.push('', ...greeting);
  }
  lines.push(
    '',
    `State is kept in ${dataDirectory}${embeddedRedis ? ' (with a private Redis)' : ''}.`,
  );
  if (configuration.sandbox) {
    lines.push(
      '',
      'This is a sandbox: any AP_ID is accepted, and these numbers answer by themselves:',
      ...[...numbers, ...sandboxNumbers].map(([number, does]) => `  ${number}  ${does}`),
    );
    if (url !== undefined) lines.push('', 'A first signature:', '', curlLine(url));
  }
  lines.push('', 'Ctrl-C stops it; nothing is lost.', '');
  return `${lines.join('\n')}\n`;
};
