/** A person who logs in on the login page, for tests of whoever asks. */
import type { Browser, BrowserPage } from './browser-client.ts';

/** `oidc.limits` for many logins from one address to few numbers. */
export const manyPrompts = Object.fromEntries(
  ['promptsPerNumber', 'promptsPerClient', 'promptsPerAddress'].map((name) => [
    name,
    { requests: 10_000, perSeconds: 1 },
  ]),
);

/** The address in an attribute of a page. */
export const unescaped = (text: string): string => text.replaceAll('&amp;', '&');

/** @returns Where the provider sends the browser at the end, which is not opened. */
export const signIn = async (browser: Browser, page: BrowserPage, msisdn: string): Promise<URL> => {
  let end = await browser.settle(await browser.submit(page, 'number', { msisdn }));
  if (end.left === undefined) {
    // A page that says what went wrong, and leads back to the application.
    const [, back] = /href="([^"]+\/return)"/.exec(end.html) ?? [];
    if (back === undefined) throw new Error(`the login page leads nowhere (${end.status})`);
    end = await browser.open(unescaped(back));
  }
  if (end.left === undefined) throw new Error(`still at the provider (${end.status})`);
  return end.left;
};
