/** A visitor of the demo: sends its form, goes through the login page, and returns. */
import { type BrowserPage, createBrowser } from '../../../test/oauth/browser-client.ts';
import { signIn, unescaped } from '../../../test/oauth/sign-in.ts';

export interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
}

type Fields = Readonly<Record<string, string>>;

/** The text of a page as it is read, in one line. */
export const wordsOf = (html: string): string =>
  html
    .replaceAll(/<\/?(?:span|code|strong|a)\b[^>]*>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ');

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
          body: new URLSearchParams({
            client: 'demo',
            number: '+41700092501',
            scope: 'phone',
            ...fields,
          }),
        }),
      ),
    /** Goes from the first pages to the provider's. */
    toLoginPage: async (fields?: Fields): Promise<BrowserPage> => {
      const pushed = await visitor.start(fields);
      const [, link] = /<a class="button" href="([^"]+)">Continue/.exec(pushed.html) ?? [];
      if (link === undefined) throw new Error(`no way to the login page (${pushed.status})`);
      return browser.open(unescaped(link));
    },
    /** Goes all the way to the page at the callback, with the number of the form. */
    login: async (fields: Fields = {}): Promise<Shown & { readonly callback: URL }> => {
      const page = await visitor.toLoginPage(fields);
      const number = fields.number ?? '+41700092501';
      const callback = await signIn(browser, page, number);
      return { ...(await visitor.open(callback.href)), callback };
    },
  };
  return visitor;
};
