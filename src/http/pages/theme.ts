/** Colours, typefaces and rules of style that the pages of several rooms share. */

type Colours = Readonly<Record<string, string>>;

export interface Schemes {
  readonly light: Colours;
  readonly dark: Colours;
}

const common: Schemes = {
  light: {
    paper: '#fcfbf8',
    raised: '#f5f3ee',
    ink: '#1c2330',
    quiet: '#596274',
    line: '#dedad1',
    field: '#8a8678',
    accent: '#1d4f91',
    good: '#2a6238',
    bad: '#9c2a1e',
  },
  dark: {
    paper: '#12151b',
    raised: '#1a1f27',
    ink: '#e4e2dc',
    quiet: '#a2a9b6',
    line: '#2f3642',
    field: '#747d8c',
    accent: '#8fbaf3',
    good: '#9fd3a8',
    bad: '#f2a093',
  },
};

/** The colours of JSON in documents. */
export const codeColours: Schemes = {
  light: { name: '#1d4f91', string: '#2a6238', literal: '#8a4b08' },
  dark: { name: '#8fbaf3', string: '#9fd3a8', literal: '#e7b173' },
};

const variables = (scheme: Colours): string =>
  Object.entries(scheme)
    .map(([name, colour]) => `--${name}:${colour}`)
    .join(';');

const base = `
*{box-sizing:border-box}
html{scroll-padding-top:1.5rem;-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink)}
h1,h2,h3{font-family:var(--title);font-weight:600;line-height:1.2;text-wrap:balance}
code,pre{font-family:var(--code);font-size:.875em}
a{color:var(--accent);text-underline-offset:.18em;text-decoration-thickness:.06em}
a:hover{text-decoration-thickness:.12em}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px;border-radius:3px}
main:focus{outline:none}
.skip{position:absolute;left:1rem;top:-6rem;padding:.6rem 1rem;background:var(--accent);color:var(--paper);z-index:1;border-radius:0 0 .4rem .4rem}
.skip:focus{top:0}
.brand{display:flex;align-items:center;gap:.6rem;font:600 1.45rem/1.2 var(--title);color:inherit;text-decoration:none}
.flourish{width:3.4rem;height:1.7rem;color:var(--accent);flex:none}
.banner{margin:0 0 1.25rem;padding:.9rem 1.15rem;border:1px solid var(--line);border-left:.35rem solid var(--accent);border-radius:.4rem;background:var(--raised)}
.banner.good{border-left-color:var(--good)}
.banner.bad{border-left-color:var(--bad)}
.quiet{color:var(--quiet)}`;

/**
 * The start of a style sheet: custom properties for both schemes, and what all pages look like.
 *
 * @param more Further colours of a room.
 * @param when Media query of the dark scheme.
 */
export const themeCss = (
  more: readonly Schemes[],
  when = '(prefers-color-scheme:dark)',
): string => {
  const of = (scheme: keyof Schemes): string =>
    variables(Object.assign({}, common[scheme], ...more.map((each) => each[scheme])));
  return `
:root{color-scheme:light dark;${of('light')};
--text:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;
--title:"Iowan Old Style","Palatino Linotype",Palatino,"Book Antiqua",Georgia,serif;
--code:ui-monospace,"SF Mono","Cascadia Code",Menlo,Consolas,"DejaVu Sans Mono",monospace}
@media ${when}{:root{${of('dark')}}}${base}`;
};

/** Paraph's mark, a stroke of the pen. */
const stroke = (colour: string): string =>
  `<path d="M6 25C13 17 21 4 17 3c-5-1-10 21-6 22 5 1 12-15 20-14 6 1-4 9 1 10 6 1 9-9 14-8 4 1-1 6 3 6 3 0 7-3 11-6" fill="none" stroke="${colour}" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/>`;

export const flourish = `<svg class="flourish" viewBox="0 0 64 32" aria-hidden="true" focusable="false">${stroke('currentColor')}</svg>`;

/** The icon of the browser's tab; visible on light and on dark. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="2 -2 32 32">${stroke('#4a7fc6')}</svg>`;
