/** What a newcomer is told at the start. */
import { describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../src/app/configuration/load.ts';
import { greet } from '../../src/app/greeting.ts';

const greetingOf = (file: object, greetings: readonly (readonly string[])[] = []): string => {
  const loaded = parseConfiguration(JSON.stringify(file));
  if (!loaded.ok) throw new Error(loaded.problems.join('; '));
  return greet({
    url: 'http://127.0.0.1:8080',
    configuration: loaded.value,
    dataDirectory: '.data',
    embeddedRedis: true,
    consoleLink: undefined,
    greetings,
    sandboxNumbers: [['+41700099999', 'sings']],
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

  it('says what parts tell, and what their numbers do in a sandbox', () => {
    const told = greetingOf({ sandbox: true }, [['Open this link:', 'http://a.example#secret']]);
    expect(told).toContain('\n\nOpen this link:\nhttp://a.example#secret\n\n');
    expect(told).toContain('\n  +41700099999  sings\n');
    expect(greetingOf({})).not.toContain('sings');
  });
});
