/**
 * The style of the pages. Sizes follow the reader's font size and colours the reader's scheme.
 * Where the tenant's colour could not be read, a darker or lighter one is used.
 */
import { contrast, inkOn, minContrast, plainColour, pressed, readableOn } from './colours.ts';

/** The look of a service, as people know it. */
export interface Branding {
  /** The colour of buttons and links, `#rrggbb`. */
  readonly color: string;
  /** Text of an SVG file without scripts and references. */
  readonly logoSvg?: string | undefined;
}

export const schemes = {
  light: {
    paper: '#f3f4f6',
    card: '#ffffff',
    tint: '#f3f4f6',
    ink: '#18202c',
    quiet: '#505a69',
    line: '#d8dce3',
    edge: '#747e8d',
    danger: '#a3161a',
    'danger-tint': '#fdf1f0',
    right: '#17663a',
  },
  dark: {
    paper: '#0f1319',
    card: '#181e27',
    tint: '#222a36',
    ink: '#e9ebef',
    quiet: '#aab2bf',
    line: '#333d4b',
    edge: '#7d889a',
    danger: '#ffa39b',
    'danger-tint': '#3a1f20',
    right: '#86d7a3',
  },
} as const;

type Scheme = Readonly<Record<keyof typeof schemes.light, string>>;

/** Below that contrast a button is not recognised. */
const minPresence = 2;

/**
 * Colours made of the tenant's. A button too dark for the dark scheme takes the colour of links.
 */
export const tenantColours = (scheme: Scheme, color: string) => {
  const isDark = inkOn(scheme.card) === '#ffffff';
  /** The colour of links and of the edges of buttons; readable on every background. */
  const accent = readableOn(
    color,
    [scheme.paper, scheme.card, scheme.tint],
    isDark ? 6.5 : minContrast,
  );
  const button = isDark && contrast(color, scheme.card) < minPresence ? accent : plainColour(color);
  return { accent, button, 'button-ink': inkOn(button), 'button-pressed': pressed(button) };
};

const variables = (scheme: Scheme, color: string): string =>
  Object.entries({ ...scheme, ...tenantColours(scheme, color) })
    .map(([name, value]) => `--${name}:${value}`)
    .join(';');

const rules = `
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;background:var(--paper);color:var(--ink);
font:1.0625rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",sans-serif;overflow-wrap:break-word}
body::before{content:"";height:.375rem;flex:none;background:var(--button)}
header,main,footer{width:100%;max-width:29rem;margin-inline:auto;padding-inline:min(1.25rem,6.25vw)}
header{padding-block:1.25rem}
.brand{margin:0;font-weight:650;font-size:1.125rem;line-height:1.3}
.brand img{display:block;max-width:min(14rem,100%);height:2.5rem;object-fit:contain;object-position:left}
main{background:var(--card);padding-block:1.75rem 1.5rem;border-block:1px solid var(--line)}
footer{padding-block:1.25rem 2rem;color:var(--quiet);font-size:.9375rem}
footer p{margin:0}
h1{margin:0 0 .625rem;font-size:clamp(1.5rem,1.25rem + 1.3vw,1.875rem);line-height:1.2;letter-spacing:-.012em;font-weight:680;text-wrap:balance;overflow-wrap:anywhere;hyphens:auto}
p{margin:0 0 1rem;text-wrap:pretty}
.lead{overflow-wrap:anywhere}
a{color:var(--accent);text-underline-offset:.18em}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px;border-radius:.25rem}
.icon{display:block;width:3rem;height:3rem;margin:0 0 .875rem -.375rem;color:var(--accent)}
.icon.bad{color:var(--danger)}
.icon.good{color:var(--right)}
.unseen{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
form{margin:0}
main>form,.other form{margin-top:1.5rem}
.field{margin:0 0 1.25rem;padding:0;border:0;min-width:0}
label,legend{font-weight:600;padding:0}
.hint,.error{margin:.125rem 0 .5rem;font-size:.9375rem}
.hint{color:var(--quiet)}
.error{color:var(--danger);font-weight:600}
.wrong{border-left:.25rem solid var(--danger);padding-left:.875rem}
input[type=tel],input[type=text],textarea{display:block;width:100%;min-height:3.25rem;margin-top:.375rem;padding:.5rem .875rem;
font:inherit;font-size:1.25rem;font-variant-numeric:tabular-nums;color:inherit;background:var(--card);border:1px solid var(--edge);border-radius:.5rem;appearance:none}
textarea{font-size:1.0625rem;resize:vertical}
input.digits{letter-spacing:.3em;font-weight:600}
.wrong input[type=tel],.wrong input[type=text],.wrong textarea{border:2px solid var(--danger)}
input:focus-visible,textarea:focus-visible{outline-offset:1px;border-radius:.5rem}
.choice{position:relative;display:flex;align-items:center;margin-top:.5rem;min-height:3.25rem;border:1px solid var(--edge);border-radius:.5rem}
.choice:has(:checked){border-color:var(--accent);box-shadow:inset 0 0 0 1px var(--accent)}
.choice:focus-within:has(:focus-visible){outline:3px solid var(--accent);outline-offset:2px}
.choice input{flex:none;width:1.375rem;height:1.375rem;margin:0 0 0 .875rem;accent-color:var(--accent)}
.choice input:focus-visible{outline:none}
.choice label{flex:1;padding:.75rem min(.875rem,3vw);font-weight:500;font-size:1.125rem;font-variant-numeric:tabular-nums;cursor:pointer}
.known{margin:0 0 1.25rem;padding:.75rem 1rem;background:var(--tint);border-radius:.5rem}
.known dt,.reference dt{color:var(--quiet);font-size:.9375rem}
.known dd{margin:0;font-size:1.25rem;font-weight:600;font-variant-numeric:tabular-nums}
.document{margin:0 0 1.25rem;padding:.875rem 1rem;background:var(--tint);border-left:.25rem solid var(--accent);border-radius:.375rem}
.document h2{margin:0 0 .25rem;font-size:.9375rem;font-weight:600;color:var(--quiet)}
.document p{margin:0;font-size:1.125rem;white-space:pre-wrap;overflow-wrap:anywhere}
.facts{margin:0 0 1.25rem;overflow-wrap:anywhere}
.facts div{margin-bottom:.625rem}
.facts dt{color:var(--quiet);font-size:.9375rem}
.facts dd{margin:0;font-weight:600}
.facts time{display:block;font-weight:400;font-size:.9375rem;color:var(--quiet)}
[hidden]{display:none}
.start{margin:1.5rem 0;padding-bottom:1.25rem;border-bottom:1px solid var(--line)}
.start h2{margin:0 0 .75rem;font-size:1.0625rem;font-weight:650}
.scan{margin-bottom:1rem}
.scan img{display:block;width:14rem;height:14rem;margin:0 auto .75rem;background:#fff;border-radius:.5rem}
.other{margin-top:1.25rem;padding-top:.5rem;border-top:1px solid var(--line)}
.other summary{padding:.625rem 0;color:var(--accent);font-weight:600;cursor:pointer}
.other form{margin-top:.5rem}
button,.button{display:block;width:100%;min-height:3.25rem;padding:.75rem min(1.25rem,3vw);font:inherit;font-weight:650;line-height:1.5;text-align:center;text-decoration:none;border:1px solid transparent;border-radius:.5rem;cursor:pointer;overflow-wrap:anywhere}
.primary{background:var(--button);color:var(--button-ink);border-color:var(--accent)}
.primary:hover,.primary:active{background:var(--button-pressed)}
.secondary{background:transparent;color:var(--ink);border-color:var(--edge)}
.secondary:hover,.quiet:hover{background:var(--tint)}
.quiet{background:transparent;color:var(--accent)}
.quiet:hover{text-decoration:underline}
/* What has just changed by itself cannot be pressed yet. */
.held :is(button,summary){pointer-events:none}
.held button{opacity:.55}
button:focus-visible,.button:focus-visible{border-radius:.5rem}
.actions{display:grid;gap:.625rem;margin-top:1.5rem}
/* The button that signs or sends is in sight, also above a keyboard. What has the focus is never below it.
A page that begins with a code for another device, or has a choice of numbers, is longer than a screen: its button lies below its field. */
@media (min-height:16rem){
html{scroll-padding-bottom:5.5rem}
form>.primary,.reach{position:sticky;bottom:.75rem;z-index:1;box-shadow:0 0 0 .75rem var(--card)}
.reach{background:var(--card)}
}
main>form+.actions,.other+.actions{margin-top:.625rem}
.problem{margin:0 0 1.5rem;padding:.875rem 1rem;background:var(--danger-tint);border:1px solid var(--danger);border-left-width:.375rem;border-radius:.375rem}
.problem:focus{outline:2px solid var(--danger);outline-offset:0}
.problem h2{margin:0 0 .125rem;font-size:1.0625rem;line-height:1.4;color:var(--danger)}
p.problem{font-weight:600}
.problem p{margin:0}
.problem a{color:inherit}
.compare{margin:1.5rem 0 1.25rem;padding:1rem;background:var(--tint);border-radius:.625rem;text-align:center}
.compare p{margin:0 0 .25rem;font-weight:600}
.compare dl{display:flex;flex-wrap:wrap;justify-content:center;gap:.5rem 2.5rem;margin:0}
.compare dt{color:var(--quiet);font-size:.9375rem}
.compare dd{margin:0;font-weight:700;line-height:1.15;font-variant-numeric:tabular-nums slashed-zero;letter-spacing:.08em;margin-right:-.08em}
.match dd{font-size:clamp(2.5rem,2rem + 3vw,3.25rem)}
.session dd{font-size:1.5rem}
.session{align-self:end;padding-bottom:.5rem}
.waiting{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.125rem 1rem;margin:0 0 1.25rem}
.waiting p{margin:0}
.status{position:relative;font-weight:600}
.time{color:var(--quiet);font-variant-numeric:tabular-nums}
.note{padding-top:1rem;border-top:1px solid var(--line);color:var(--quiet);font-size:.9375rem}
.reference{margin:1.5rem 0 0;padding-top:1rem;border-top:1px solid var(--line)}
.reference dd{margin:0}
.reference code{font:600 .9375rem/1.5 ui-monospace,"SF Mono","Cascadia Code",Menlo,Consolas,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere;user-select:all}
@media (prefers-reduced-motion:no-preference){
.wave{animation:ring 2.4s ease-in-out infinite}
.wave.far{animation-delay:.35s}
.dots span{animation:ring 1.8s ease-in-out infinite}
.dots span:nth-child(2){animation-delay:.3s}
.dots span:nth-child(3){animation-delay:.6s}
button,.button{transition:background-color .12s}
@keyframes ring{0%,100%{opacity:1}50%{opacity:.2}}
}
@media (min-width:34rem){
body{padding-block-end:2rem}
header{padding-block:clamp(1.5rem,7vh,4.5rem) 1.25rem;padding-inline:0}
main{padding:2.25rem;border:1px solid var(--line);border-radius:1rem}
footer{padding-inline:0}
}
@media (forced-colors:active){
.primary{border:2px solid ButtonText}
.choice:has(:checked){outline:2px solid Highlight}
}
@media print{
body,main{background:#fff;color:#000;border:0}
body::before,.actions,.waiting,form,.other{display:none}
header,main,footer{max-width:none;padding-inline:0}
}
`;

export const stylesheet = ({ color }: Branding): string =>
  `:root{color-scheme:light dark;${variables(schemes.light, color)}}
@media screen and (prefers-color-scheme:dark){
:root{${variables(schemes.dark, color)}}}${rules}
@media screen and (prefers-color-scheme:dark){.brand img{height:3.25rem;padding:.375rem .625rem;background:#fff;border-radius:.5rem}}
`;
