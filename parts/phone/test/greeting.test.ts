/** What a newcomer is told of the phone at the start. */
import { describe, expect, it } from 'vitest';
import { greetingWith } from '../greeting.ts';

const link = 'http://127.0.0.1:8080/phone#activate=AAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA';
const greetingAt = (url: string): string => greetingWith(link, url).join('\n');

describe('the greeting', () => {
  it('prints the link that makes a browser a phone, and its QR code', () => {
    const text = greetingAt('http://127.0.0.1:8080');
    expect(text).toContain(`\n${link}\n`);
    expect(text).toContain('paraph sign +41700092600');
    expect(text.match(/^[ █▀▄]{20,}$/gm)?.length).toBeGreaterThan(10);
  });

  it('names the address in the command that asks this phone, unless it is the one that the command takes', () => {
    const command = 'npx paraph sign +41700092600 "Sign in to Example?"';
    expect(greetingAt('http://127.0.0.1:8080')).toContain(`${command}\n`);
    const elsewhere = greetingAt('http://127.0.0.1:8431');
    expect(elsewhere).toContain(`${command} --url http://127.0.0.1:8431\n`);
  });
});
