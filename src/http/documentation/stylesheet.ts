/**
 * The looks of the reference. Fonts are the reader's own, colours follow the reader's scheme, and everything that might be
 * too wide either breaks or scrolls in its own box: the page itself never scrolls sideways.
 */
import { codeColours, looks, type Schemes } from '../../looks.ts';

const own: Schemes = {
  light: { mark: '#fdf3d3', shade: '#1c233033' },
  dark: { mark: '#3a3213', shade: '#000000aa' },
};

export const stylesheet = `${looks([codeColours, own])}
*{box-sizing:border-box}
html{scroll-padding-top:1.5rem;-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.6 var(--text)}
a{color:var(--accent);text-underline-offset:.18em;text-decoration-thickness:.06em}
a:hover{text-decoration-thickness:.12em}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px;border-radius:3px}
main:focus{outline:none}
.skip{position:absolute;left:1rem;top:-6rem;padding:.6rem 1rem;background:var(--accent);color:var(--paper);z-index:1;border-radius:0 0 .4rem .4rem}
.skip:focus{top:0}
.top,.title,.columns,footer{max-width:82rem;margin-inline:auto;padding-inline:1.25rem}
.top{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.25rem 2rem;padding-block:1.25rem;border-bottom:1px solid var(--line)}
.top p{margin:0}
.brand{display:flex;align-items:center;gap:.6rem;font:600 1.45rem/1.2 var(--title);color:inherit;text-decoration:none}
.flourish{width:3.4rem;height:1.7rem;color:var(--accent);flex:none}
.quiet{color:var(--quiet)}
nav{padding-block:1.25rem .5rem;font-size:.94rem;border-bottom:1px solid var(--line)}
nav ul{list-style:none;margin:0 0 .9rem;padding:0;display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:0 1rem}
nav li+li{margin:0}
nav a{display:block;padding:.22rem 0;color:inherit;text-decoration:none}
nav a:hover{color:var(--accent);text-decoration:underline}
.group{margin:0 0 .2rem;font-size:.8rem;letter-spacing:.04em;color:var(--quiet)}
main{min-width:0;padding-block:1.5rem 3rem}
h1,h2,h3{font-family:var(--title);font-weight:600;line-height:1.2;text-wrap:balance}
h1{font-size:clamp(2rem,1.4rem + 2.6vw,3.1rem);margin:0 0 .8rem;letter-spacing:-.01em}
.title{padding-block:clamp(1.75rem,5vw,3.25rem) clamp(1.25rem,3vw,2rem)}
h2{font-size:1.75rem;margin:0 0 .9rem}
h3{font-size:1.22rem;margin:2.2rem 0 .7rem}
p,ol{max-width:44rem;margin:0 0 1rem}
ol{padding-left:1.4rem}
li+li{margin-top:.4rem}
.lead{font-size:1.2rem;line-height:1.5}
.summary{font-size:1.08rem;color:var(--quiet)}
section+section{margin-top:3.5rem}
.anchor{color:var(--quiet);text-decoration:none;font-weight:400;font-size:.8em;opacity:0;padding:0 .2em}
h2:hover .anchor,h3:hover .anchor,.anchor:focus{opacity:1}
code,pre{font-family:var(--code);font-size:.875em}
p code,li code,td code{overflow-wrap:anywhere}
.values code{overflow-wrap:normal}
pre{margin:0;padding:.9rem 1.1rem;background:var(--raised);border:1px solid var(--line);border-radius:.5rem;line-height:1.55;font-size:.79rem;white-space:pre-wrap;overflow-wrap:anywhere;tab-size:2}
pre code{font-size:1em}
section>pre{margin-bottom:1rem}
.name{color:var(--name)}.string{color:var(--string)}.literal{color:var(--literal)}
.endpoint{margin-bottom:.8rem}
.method{font:600 .75rem/1 var(--text);letter-spacing:.05em;padding:.3em .55em;border-radius:.3rem;background:var(--accent);color:var(--paper);margin-right:.4rem}
.sides{display:grid;gap:1.25rem;margin:1.4rem 0}
.sides>*{min-width:0}
.examples h3{margin:0 0 .5rem;font:600 .95rem/1.4 var(--text)}
.status{font-weight:400;color:var(--quiet)}
.examples+.examples{margin-top:1.25rem}
.example{border:1px solid var(--line);border-radius:.5rem;overflow:hidden;background:var(--raised)}
.example+.example{margin-top:.5rem}
.example summary{padding:.5rem .9rem;cursor:pointer;font-size:.92rem}
.example summary:focus-visible{outline-offset:-3px;border-radius:.5rem}
.example[open] summary{border-bottom:1px solid var(--line)}
.example pre{border:0;border-radius:0}
.scroll{overflow-x:auto;margin:0 0 1rem;border-block:1px solid var(--line);
background:linear-gradient(90deg,var(--paper) 50%,transparent) 0/2.5rem 100% local,linear-gradient(270deg,var(--paper) 50%,transparent) 100%/2.5rem 100% local,linear-gradient(90deg,var(--shade),transparent) 0/.8rem 100%,linear-gradient(270deg,var(--shade),transparent) 100%/.8rem 100%;background-repeat:no-repeat}
table{border-collapse:collapse;width:100%;font-size:.92rem;line-height:1.5}
th,td{text-align:left;vertical-align:top;padding:.55rem .9rem .55rem 0;font-weight:400}
th:last-child,td:last-child{padding-right:0}
thead th{font-size:.8rem;color:var(--quiet);padding-block:.5rem;white-space:nowrap}
tbody tr{border-top:1px solid var(--line)}
tbody th{white-space:nowrap}
th code{white-space:normal}
td.tight{white-space:nowrap}
td.prose{min-width:min(16rem,75vw)}
.way,.pattern{color:var(--quiet)}
tr:target{background:var(--mark)}
.after{margin-top:1rem}
footer{border-top:1px solid var(--line);padding-block:1.25rem 2rem;color:var(--quiet);font-size:.9rem}
footer p{margin:0}
@media (min-width:64rem){
.columns{display:grid;grid-template-columns:12rem minmax(0,1fr);gap:3.5rem}
.title{padding-left:16.75rem}
nav{position:sticky;top:0;align-self:start;max-height:100vh;overflow-y:auto;border:0;padding-block:1.6rem}
nav ul{display:block;margin-bottom:1.3rem}
main{padding-block:1.5rem 4rem}
}
@media (min-width:76rem){.sides{grid-template-columns:1fr 1fr;align-items:start}}
@media print{nav,.skip,.anchor{display:none}.columns{display:block}}
`;
