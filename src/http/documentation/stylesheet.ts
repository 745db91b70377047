/**
 * The looks of the reference. Fonts are the reader's own, colours follow the reader's scheme, and
 * everything that might be too wide either breaks or scrolls in its own box: the page itself never
 * scrolls sideways.
 */
import { themeCss } from '../../theme.ts';

export const stylesheet = `${themeCss([])}
body{margin:0 auto;max-width:82rem;padding-inline:1.25rem;font:1rem/1.6 var(--text)}
.top{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.25rem 2rem;max-width:none;padding-block:1.25rem;border-bottom:1px solid var(--line)}
nav{padding-block:1.25rem;border-bottom:1px solid var(--line)}
nav p{margin:0;font-size:.8rem}
nav ul{list-style:none;margin:0 0 .9rem;padding:0;display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:0 1rem}
nav a{display:block;padding:.22rem 0;color:inherit;text-decoration:none}
nav a:hover{color:var(--accent);text-decoration:underline}
main{min-width:0;padding-block:1.5rem 3rem}
h1{font-size:clamp(2rem,1.4rem + 2.6vw,3.1rem);margin:2rem 0 .8rem}
h2{font-size:1.75rem;margin:0 0 .9rem}
h3{font-size:1.22rem;margin:2.2rem 0 .7rem}
h2 a,h3 a{text-decoration:none;font-weight:400;font-size:.8em}
p,ol{max-width:44rem;margin:0 0 1rem}
ol{padding-left:1.4rem}
main li+li{margin-top:.4rem}
.lead{font-size:1.2rem;line-height:1.5}
section+section{margin-top:3.5rem}
p code,li code{overflow-wrap:anywhere}
pre{margin:0 0 1rem;padding:.9rem 1.1rem;background:var(--raised);border:1px solid var(--line);border-radius:.5rem;line-height:1.55;white-space:pre-wrap;overflow-wrap:anywhere}
pre code{font-size:1em}
.example{margin-bottom:.5rem;border:1px solid var(--line);border-radius:.5rem;background:var(--raised)}
.example summary{padding:.5rem .9rem;cursor:pointer}
.example pre{margin:0;border-width:1px 0 0;border-radius:0}
.scroll{overflow-x:auto;margin:0 0 1rem;border-block:1px solid var(--line)}
table{border-collapse:collapse;width:100%;font-size:.92rem;line-height:1.5}
th,td{text-align:left;vertical-align:top;padding:.55rem .9rem .55rem 0;font-weight:400}
thead th{font-size:.8rem;color:var(--quiet);white-space:nowrap}
tbody tr{border-top:1px solid var(--line)}
tr:target{background:var(--raised)}
td:last-child{min-width:min(16rem,75vw)}
dl.ways dt{font:600 1.4rem/1.3 var(--title)}
dl.ways dd{margin:0 0 1.4rem;color:var(--quiet)}
footer{border-top:1px solid var(--line);padding-block:1.25rem 2rem;color:var(--quiet);font-size:.9rem}
@media (min-width:64rem){
.columns{display:grid;grid-template-columns:12rem minmax(0,1fr);gap:3.5rem}
nav{position:sticky;top:0;align-self:start;max-height:100vh;overflow-y:auto;border:0}
nav ul{display:block}
}
@media print{nav,.skip{display:none}.columns{display:block}}
`;
