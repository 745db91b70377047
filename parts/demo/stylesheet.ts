/**
 * The style of the pages, like that of the reference: the fonts and the colour scheme of the
 * reader, and no horizontal scrolling.
 */
import { createAssets } from '../../src/http/pages/assets.ts';
import { codeColours, icon, themeCss } from '../../src/http/pages/theme.ts';

const stylesheet = `${themeCss([codeColours])}
body{font:1rem/1.6 var(--text)}
.top,main,footer{max-width:60rem;margin-inline:auto;padding-inline:1.25rem}
.top{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.25rem 2rem;padding-block:1.25rem;border-bottom:1px solid var(--line)}
.top p{margin:0}
main{padding-block:clamp(1.75rem,5vw,3rem) 3rem}
h1{font-size:clamp(1.9rem,1.4rem + 2.2vw,2.8rem);margin:0 0 1.1rem;letter-spacing:-.01em}
h2{font-size:1.55rem;margin:0 0 .6rem}
h3{font-family:inherit;font-size:.95rem;margin:1.2rem 0 .5rem}
p{max-width:44rem;margin:0 0 1rem}
.lead{font-size:1.15rem;line-height:1.5}
p code,li code,td code,dd code{overflow-wrap:anywhere}
pre{margin:0;padding:.9rem 1.1rem;background:var(--raised);border:1px solid var(--line);border-radius:.5rem;line-height:1.55;font-size:.79rem;white-space:pre-wrap;overflow-wrap:anywhere;tab-size:2}
pre code{font-size:1em}
.name{color:var(--name)}.string{color:var(--string)}.literal{color:var(--literal)}
.step{margin-top:2.5rem;padding-top:1.6rem;border-top:1px solid var(--line)}
.step h2{display:flex;gap:.7rem;align-items:baseline}
.number{flex:none;display:inline-grid;place-items:center;width:1.9rem;height:1.9rem;border-radius:50%;background:var(--accent);color:var(--paper);font:600 1rem/1 var(--text)}
.sides{display:grid;gap:0 1.25rem}
.sides>*{min-width:0}
.status{font-weight:400;color:var(--quiet)}
form{max-width:44rem}
.field{margin:0 0 1.25rem}
label,legend{display:block;font-weight:600;margin-bottom:.35rem;padding:0}
fieldset{border:0;margin:0 0 1.25rem;padding:0;min-width:0}
.hint{display:block;margin:.3rem 0 0;font-size:.92rem;color:var(--quiet);font-weight:400}
select,input[type=tel]{width:100%;min-height:2.9rem;padding:.5rem .7rem;font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--field);border-radius:.4rem}
.choice{display:flex;gap:.6rem;align-items:baseline;font-weight:400;margin:0;padding:.3rem 0;min-height:2rem}
.choice input{flex:none;width:1.05rem;height:1.05rem;accent-color:var(--accent);transform:translateY(.12rem)}
.button,button{display:inline-block;min-height:2.9rem;padding:.6rem 1.5rem;font:600 1.05rem/1.6 var(--text);color:var(--paper);background:var(--accent);border:1px solid var(--accent);border-radius:.4rem;text-decoration:none;cursor:pointer}
.button:hover,button:hover{filter:brightness(1.1)}
.actions{display:flex;flex-wrap:wrap;gap:1rem 1.5rem;align-items:center;margin:1.5rem 0 0}
details{margin:0 0 1.5rem;border:1px solid var(--line);border-radius:.5rem}
summary{padding:.6rem 1rem;cursor:pointer;font-weight:600}
details[open]>summary{border-bottom:1px solid var(--line)}
summary:focus-visible{outline-offset:-3px;border-radius:.5rem}
.inside{padding:1.1rem 1rem 0}
.inside>:last-child{margin-bottom:1.1rem}
.banner p{margin:0}
.banner p+p{margin-top:.4rem}
.banner strong{font-size:1.1rem}
.checks{list-style:none;margin:0 0 1rem;padding:0;max-width:44rem}
.checks li{display:grid;grid-template-columns:6.2rem minmax(0,1fr);gap:.8rem;padding:.4rem 0;border-top:1px solid var(--line)}
.checks li:last-child{border-bottom:1px solid var(--line)}
.passed{color:var(--good)}.failed{color:var(--bad);font-weight:600}
footer{border-top:1px solid var(--line);padding-block:1.25rem 2rem;color:var(--quiet);font-size:.9rem}
footer p{margin:0}
@media (max-width:24rem){.checks li{grid-template-columns:minmax(0,1fr);gap:0}}
@media (min-width:52rem){.sides{grid-template-columns:1fr 1fr;align-items:start}.two{columns:2;column-gap:2rem}}
@media print{.skip{display:none}}
`;

export const { versioned, serve } = createAssets({
  'demo.css': ['text/css;charset=UTF-8', stylesheet],
  'icon.svg': ['image/svg+xml', icon],
});
