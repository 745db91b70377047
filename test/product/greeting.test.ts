/** What a newcomer is told at the start. */
import { describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../src/configuration/load.ts';
import { greet } from '../../src/product/greeting.ts';

const greetingOf = (file: object, phoneLink?: string, url = 'http://127.0.0.1:8080'): string => {
  const loaded = parseConfiguration(JSON.stringify(file));
  if (!loaded.ok) throw new Error(loaded.problems.join('; '));
  return greet({
    url,
    configuration: loaded.value,
    dataDirectory: '.data',
    embeddedRedis: true,
    consoleLink: undefined,
    phoneLink,
    entrances: [{ path: '/stand', name: 'Stand', what: 'A way in.', greeting: 'begin' }],
    stopped: Promise.resolve(0),
  });
};

describe('the greeting', () => {
  it('leads to the pages of parts, and names the issuer', () => {
    const text = greetingOf({ sandbox: true });
    expect(text).toContain('  begin                            http://127.0.0.1:8080/stand\n');
    expect(text).toContain('  OpenID issuer                    http://127.0.0.1:8080/oidc\n');
  });

  it('names the public address, where logins take place', () => {
    const text = greetingOf({ sandbox: true, publicUrl: 'https://sign.example.com' });
    expect(text).toContain(' https://sign.example.com/stand\n');
    expect(text).toContain(' https://sign.example.com/oidc\n');
  });

  it('prints the link that makes a browser a phone, and its QR code', () => {
    const link = 'http://127.0.0.1:8080/phone#activate=AAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA';
    const text = greetingOf({ sandbox: true }, link);
    expect(text).toContain(`\n${link}\n`);
    expect(text).toContain('paraph sign +41700092600');
    expect(text.match(/^[ █▀▄]{20,}$/gm)?.length).toBeGreaterThan(10);
    expect(greetingOf({ sandbox: true })).not.toContain('█');
  });

  it('names the address in the command that asks this phone, unless it is the one that the command takes', () => {
    const command = 'npx paraph sign +41700092600 "Sign in to Example?"';
    const link = 'http://127.0.0.1:8080/phone#activate=A';
    expect(greetingOf({ sandbox: true }, link)).toContain(`${command}\n`);
    const elsewhere = greetingOf({ sandbox: true }, link, 'http://127.0.0.1:8431');
    expect(elsewhere).toContain(`${command} --url http://127.0.0.1:8431\n`);
  });
});
