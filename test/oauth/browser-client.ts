/**
 * A browser without a window: keeps cookies by path, follows redirects inside the provider, reads
 * forms and links.
 *
 * It stops where the provider sends it somewhere else, as to a client's callback, and says where
 * that was.
 */
export interface BrowserPage {
  readonly status: number;
  /** Of the last answer, after redirects. */
  readonly url: string;
  readonly headers: Headers;
  readonly html: string;
  /** Where the provider sent the browser, when that is outside. */
  readonly left: URL | undefined;
}

export interface Browser {
  /** @param address Absolute, or a path of the server. */
  open(address: string): Promise<BrowserPage>;
  /** One request; redirects are not followed. */
  request(address: string, init?: RequestInit): Promise<Response>;
  /** Sends the form of a page whose action ends with `/<name>`: its hidden fields and these. */
  submit(
    page: BrowserPage,
    name: string,
    fields?: Readonly<Record<string, string>>,
  ): Promise<BrowserPage>;
  /**
   * Waits on the page's events, as its script does, until something has changed, and loads it
   * again.
   */
  waitOn(page: BrowserPage): Promise<BrowserPage>;
  /**
   * Follows reloads and waits until the provider sends the browser away, or the person has to do
   * something.
   */
  settle(page: BrowserPage): Promise<BrowserPage>;
  /** A second browser with the same cookies, from here on its own. */
  clone(): Browser;
  /** `name=value; …` for an address, as it would be sent. */
  cookiesFor(address: string): string;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

const decoded = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&#x2F;', '/')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** The value of an attribute in a tag's text. */
const attributeOf = (tag: string, name: string): string | undefined => {
  const found = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)')`).exec(tag);
  const value = found?.[1] ?? found?.[2];
  return value === undefined ? undefined : decoded(value);
};

export interface Form {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** The form whose action ends with `/<name>`. */
export const formIn = (html: string, name: string): Form | undefined => {
  for (const [form = ''] of html.matchAll(/<form\b[\s\S]*?<\/form>/g)) {
    const action = attributeOf(form.slice(0, form.indexOf('>') + 1), 'action') ?? '';
    if (!action.endsWith(`/${name}`)) continue;
    const fields: Record<string, string> = {};
    for (const [input = ''] of form.matchAll(/<input\b[^>]*>/g)) {
      const key = attributeOf(input, 'name');
      if (key !== undefined && attributeOf(input, 'type') === 'hidden') {
        fields[key] = attributeOf(input, 'value') ?? '';
      }
    }
    return { action, fields };
  }
  return undefined;
};

/** Where a page reloads to at once, without its script. */
const reloadOf = (html: string): string | undefined => {
  const shown = html.replaceAll(/<noscript>[\s\S]*?<\/noscript>/g, '');
  const [tag] = /<meta\b[^>]*http-equiv="refresh"[^>]*>/.exec(shown) ?? [];
  const content = tag === undefined ? undefined : attributeOf(tag, 'content');
  return /^0;\s*url=(.+)$/i.exec(content ?? '')?.[1];
};

export interface BrowserOptions {
  /** What the address bar shows. */
  readonly origin: string;
  /**
   * Who answers at that origin, when it is somebody else: as a balancer in front of several
   * processes.
   */
  readonly server?: (() => string) | undefined;
  readonly acceptLanguage?: string;
}

export const createBrowser = (options: BrowserOptions, known: readonly Cookie[] = []): Browser => {
  const { origin, server = () => origin, acceptLanguage = 'en' } = options;
  let cookies = [...known];

  const inside = (url: URL): boolean => url.origin === origin && url.pathname.startsWith('/oidc/');

  const keep = (header: string, from: URL): void => {
    const [pair = '', ...attributes] = header.split(';').map((part) => part.trim());
    const name = pair.slice(0, pair.indexOf('='));
    const value = pair.slice(pair.indexOf('=') + 1);
    const attribute = (wanted: string): string | undefined =>
      attributes
        .find((text) => text.toLowerCase().startsWith(`${wanted}=`))
        ?.slice(wanted.length + 1);
    const path =
      attribute('path') ?? (from.pathname.slice(0, from.pathname.lastIndexOf('/')) || '/');
    cookies = cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
    const expires = attribute('expires');
    const isGone =
      attribute('max-age') === '0' || (expires !== undefined && Date.parse(expires) <= Date.now());
    if (!isGone) cookies.push({ name, value, path });
  };

  const matches = (path: string, { path: scope }: Cookie): boolean =>
    path === scope || path.startsWith(scope.endsWith('/') ? scope : `${scope}/`);

  const cookiesFor = (address: string): string => {
    const { pathname } = new URL(address, origin);
    return cookies
      .filter((cookie) => matches(pathname, cookie))
      .toSorted((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  };

  const request = async (address: string, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(address, origin);
    const headers = new Headers(init.headers);
    if (!headers.has('accept')) headers.set('accept', 'text/html,application/xhtml+xml');
    if (!headers.has('accept-language')) headers.set('accept-language', acceptLanguage);
    const sent = cookiesFor(address);
    if (sent !== '' && !headers.has('cookie')) headers.set('cookie', sent);
    const target = new URL(`${url.pathname}${url.search}`, server());
    const response = await fetch(target, { ...init, headers, redirect: 'manual' });
    for (const header of response.headers.getSetCookie()) keep(header, url);
    return response;
  };

  const follow = async (address: string, init?: RequestInit): Promise<BrowserPage> => {
    let url = new URL(address, origin);
    let response = await request(url.href, init);
    for (let hops = 0; hops < 12; hops += 1) {
      const location = response.headers.get('location');
      if (location === null) {
        const html = await response.text();
        return {
          status: response.status,
          url: url.href,
          headers: response.headers,
          html,
          left: undefined,
        };
      }
      await response.body?.cancel();
      const next = new URL(location, url);
      if (!inside(next)) {
        return {
          status: response.status,
          url: url.href,
          headers: response.headers,
          html: '',
          left: next,
        };
      }
      url = next;
      response = await request(url.href);
    }
    throw new Error(`${url.pathname} redirects for ever`);
  };

  const browser: Browser = {
    open: (address) => follow(address),
    request,
    submit: (page, name, fields = {}) => {
      const form = formIn(page.html, name);
      if (form === undefined)
        throw new Error(`There is no form ${name} at ${page.url} (${page.status})`);
      const action = new URL(form.action, page.url);
      return follow(action.href, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin,
          'sec-fetch-site': 'same-origin',
        },
        body: new URLSearchParams({ ...form.fields, ...fields }).toString(),
      });
    },
    waitOn: async (page) => {
      const response = await request(`${new URL(page.url).pathname}/events`, {
        headers: { accept: 'text/event-stream' },
      });
      if (response.status !== 200) throw new Error(`events: ${response.status}`);
      const text = await response.text();
      if (!text.includes('event: changed')) throw new Error('The events ended without news');
      return follow(page.url);
    },
    settle: async (page) => {
      let current = page;
      for (let steps = 0; steps < 12; steps += 1) {
        if (current.left !== undefined) return current;
        const next = reloadOf(current.html);
        if (next !== undefined) current = await follow(new URL(next, current.url).href);
        else if (formIn(current.html, 'cancel') !== undefined && isWaiting(current.html)) {
          current = await browser.waitOn(current);
        } else return current;
      }
      throw new Error(`${current.url} does not settle`);
    },
    clone: () => createBrowser(options, cookies),
    cookiesFor,
  };
  return browser;
};

/**
 * The page that waits for the phone: it has no field to fill in, and reloads by itself where there
 * is no script.
 */
export const isWaiting = (html: string): boolean =>
  /<noscript>\s*<meta\b[^>]*http-equiv="refresh"/.test(html) &&
  formIn(html, 'cancel') !== undefined;
