/** What holds for every page in every state and language; how they look is seen in a browser. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readableNumber } from '../../../src/http/pages/markup.ts';
import { loginPage } from '../../../src/oauth/pages/login-page.ts';
import { noticePage } from '../../../src/oauth/pages/page.ts';
import type { LoginView, ViewOf } from '../../../src/oauth/pages/views.ts';
import {
  count,
  frameOf,
  holdPages,
  hostileTexts,
  skeleton,
} from '../../http/pages/page-contract.ts';
import { everyPage, loginViews } from './every-page.ts';

const view = <Kind extends LoginView['kind']>(name: string, kind: Kind): ViewOf<Kind> => {
  const found = loginViews[name];
  if (found?.kind !== kind) throw new Error(`no such view: ${name}`);
  return found as ViewOf<Kind>;
};

const render = (shown: LoginView): string => loginPage(frameOf('en'), shown);

const chosenByUs = ['kind', 'problem', 'cause', 'how', 'ways'];

const everyTextReplaced = (value: unknown, text: string): unknown => {
  if (typeof value === 'string') return text;
  if (Array.isArray(value)) return value.map((item) => everyTextReplaced(item, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      chosenByUs.includes(name) ? item : everyTextReplaced(item, text),
    ]),
  );
};

const filledWith = (shown: LoginView, text: string): string =>
  loginPage(
    frameOf('en', {
      clientName: text,
      tenantName: text,
      path: text,
      branding: { color: text, logoSvg: text },
    }),
    everyTextReplaced(shown, text) as LoginView,
  );

holdPages(everyPage);

describe('the pages', () => {
  it('escape whatever they are given', () => {
    fc.assert(
      fc.property(hostileTexts, fc.constantFrom(...Object.values(loginViews)), (text, shown) => {
        // Whatever the texts are, the page has the same elements with the same attributes.
        expect(skeleton(filledWith(shown, text))).toBe(skeleton(filledWith(shown, 'plain')));
      }),
      { numRuns: 300 },
    );
  });

  it('escape the reference and the names on a notice', () => {
    const evil = '"><script>';
    const frame = frameOf('en', { tenantName: evil, clientName: evil });
    expect(noticePage(frame, { kind: 'error', cause: 'internal', reference: evil })).not.toContain(
      '<script',
    );
    expect(noticePage(frame, { kind: 'log-out', form: '' })).not.toContain('<script');
  });

  it('do without the name of the client where it is not known', () => {
    const { clientName: _, ...frame } = frameOf('de');
    expect(loginPage(frame, view('number empty', 'number'))).toContain(
      'Bei der Anwendung anmelden',
    );
  });

  it('show the logo of a tenant that has one, and its name to those who do not see it', () => {
    const branding = { color: '#1f5fbf', logoSvg: '<svg xmlns="http://www.w3.org/2000/svg"/>' };
    const page = loginPage(frameOf('en', { branding }), view('number empty', 'number'));
    expect(page).toMatch(
      /<img src="\/oidc\/assets\/logo\.svg\?v=[\w-]{12}" alt="Canton of Example">/,
    );
  });

  it('name their assets anew when these change', () => {
    const address = (color: string) =>
      /login\.css\?v=[\w-]+/.exec(
        loginPage(frameOf('en', { branding: { color, logoSvg: undefined } }), view('code', 'code')),
      )?.[0];
    expect(address('#000000')).toBe(address('#000000'));
    expect(address('#000000')).not.toBe(address('#000001'));
  });
});

describe('the page that asks for the number', () => {
  it('is filled in with the number that the client has named', () => {
    const page = render(view('number prefilled', 'number'));
    expect(page).toMatch(
      /<input id="msisdn" [^>]*type="tel"[^>]*autocomplete="tel"[^>]*value="\+41 79 123 45 01"/,
    );
  });

  it('lets nothing be typed where the client does not want it', () => {
    const page = render(view('number confirm', 'number'));
    expect(page).not.toContain('type="tel"');
    expect(page).toContain('<input type="hidden" name="msisdn" value="+41791234501">');
    expect(render(view('number choice', 'number'))).not.toContain('type="tel"');
  });

  it('sends one number with each form', () => {
    const page = render(view('number choice or other', 'number'));
    const forms = page.match(/<form [^>]*\/number"[\s\S]*?<\/form>/g) ?? [];
    expect(forms).toHaveLength(2);
    expect(forms[0]).not.toContain('type="tel"');
    expect(forms[1]).not.toContain('type="radio"');
    expect(page).toMatch(/value="\+41791234502" checked/);
    expect(count(page, / checked/g)).toBe(1);
  });

  it('ties what is wrong to the field, and leads there', () => {
    const page = render(view('number malformed', 'number'));
    expect(page).toContain('<title>Error: ');
    expect(page).toMatch(/role="alert"[\s\S]*<a href="#msisdn">/);
    expect(page).toMatch(
      /<input id="msisdn"[^>]*aria-describedby="msisdn-hint msisdn-error" aria-invalid="true"/,
    );
  });

  it('opens the field for another number when that is where the mistake is', () => {
    const page = render(view('number other malformed', 'number'));
    expect(page).toContain('<details class="other" open>');
    expect(page).toMatch(/type="tel"[^>]*value="079"/);
    expect(count(page, / checked/g)).toBe(0);
  });

  it('blames no field for what is not its fault', () => {
    for (const name of ['number limited', 'number busy']) {
      expect(render(view(name, 'number'))).not.toContain('aria-invalid');
    }
  });

  it.each([
    ['41791234567', '+41 79 123 45 67'],
    ['+41791234567', '+41 79 123 45 67'],
    ['436641234567', '+43 664 123 4567'],
    ['12025550123', '+1 202 555 0123'],
    ['423661234567', '+423 661 234 567'],
    ['anything', 'anything'],
  ])('shows %s as %s', (msisdn, shown) => {
    expect(readableNumber(msisdn)).toBe(shown);
  });
});

describe('the page that waits', () => {
  it('loads itself again where there is no script', () => {
    expect(render(view('waiting', 'waiting'))).toContain(
      '<noscript><meta http-equiv="refresh" content="3"></noscript>',
    );
  });

  it('does not announce every second', () => {
    const page = render(view('waiting', 'waiting'));
    expect(page).toMatch(/role="timer" aria-live="off">[^<]*<span id="clock">1:20</);
    expect(page).toMatch(/role="status"/);
  });

  it('shows the number to match only where there is one', () => {
    expect(render(view('waiting match', 'waiting'))).toContain('>42<');
    expect(render(view('waiting', 'waiting'))).not.toContain('<dt>Number</dt>');
    expect(render({ ...view('waiting', 'waiting'), sessionCode: '' })).not.toContain(
      'must show the same',
    );
  });
});

describe('the page of a failure', () => {
  it('offers the ways on that there are, and always the way back', () => {
    const every = render(view('failed every way', 'failed'));
    for (const name of ['text', 'retry', 'other'])
      expect(every).toContain(`action="/oidc/interaction/abc/${name}"`);
    expect(count(every, /class="primary/g)).toBe(1);
    const none = render(view('failed suspended', 'failed'));
    expect(none).not.toContain('<form');
    expect(none).toContain(
      '<a class="primary button" href="/oidc/interaction/abc/return">Back to Example Shop</a>',
    );
    expect(none).toContain('<code>f3c81a90</code>');
  });
});

describe('the page that leaves', () => {
  it('moves on by itself, and has a link', () => {
    const page = render(view('leaving signed', 'leaving'));
    expect(page).toContain(
      '<meta http-equiv="refresh" content="0;url=/oidc/interaction/abc/finish">',
    );
    expect(page).toContain('href="/oidc/interaction/abc/finish"');
  });
});
