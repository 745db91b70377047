/** Somebody who tries the demo: sends its form, goes through the login page, comes back. */
import { type Browser, type BrowserPage, createBrowser } from '../oauth/browser-client.ts';

/** `oidc.limits` for many logins from one address to few numbers. */
export const manyPrompts = Object.fromEntries(
  ['promptsPerNumber', 'promptsPerClient', 'promptsPerAddress'].map((name) => [
    name,
    { requests: 10_000, perSeconds: 1 },
  ]),
);

export interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
}

type Fields = Readonly<Record<string, string>>;

const unescaped = (text: string): string => text.replaceAll('&amp;', '&');

/** The text of a page as it is read, in one line. */
export const wordsOf = (html: string): string =>
  html
    .replaceAll(/<\/?(?:span|code|strong|a)\b[^>]*>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ');

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

export const createVisitor = (origin: string) => {
  const browser = createBrowser({ origin });
  const shown = async (response: Response): Promise<Shown> => ({
    status: response.status,
    headers: response.headers,
    html: await response.text(),
  });
  const visitor = {
    browser,
    open: async (address: string): Promise<Shown> => shown(await browser.request(address)),
    /** Sends the form of the first page, with these fields in place of what it has. */
    start: async (
      fields: Fields = {},
      headers: Fields = { 'sec-fetch-site': 'same-origin' },
    ): Promise<Shown> =>
      shown(
        await browser.request('/demo/start', {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
          body: new URLSearchParams({ client: 'demo', number: '+41700092501', scope: 'phone', ...fields }),
        }),
      ),
    /** Goes from the first pages to the provider's. */
    toLoginPage: async (fields?: Fields): Promise<BrowserPage> => {
      const pushed = await visitor.start(fields);
      const [, link] = /<a class="button" href="([^"]+)">Continue/.exec(pushed.html) ?? [];
      if (link === undefined) throw new Error(`no way to the login page (${pushed.status})`);
      return browser.open(unescaped(link));
    },
    /** All the way to the page at the callback, by the number of the form. */
    login: async (fields: Fields = {}): Promise<Shown & { readonly callback: URL }> => {
      const page = await visitor.toLoginPage(fields);
      const number = fields.number ?? '+41700092501';
      const callback = await signIn(browser, page, number);
      return { ...(await visitor.open(callback.href)), callback };
    },
  };
  return visitor;
};
