/**
 * The looks of the console, akin to those of the other pages: the reader's own fonts, the reader's scheme of colours, and
 * nothing that moves the page sideways. Signed and failed differ in words too, never in colour alone.
 */
import { looks, type Schemes } from '../../looks.ts';

const own: Schemes = {
  light: {
    tint: '#e8eef7',
    open: '#7d5408',
    'bar-good': '#3f7d4f',
    'bar-bad': '#b5483a',
  },
  dark: {
    tint: '#1d2a3d',
    open: '#e7b173',
    'bar-good': '#6fae7e',
    'bar-bad': '#d9786a',
  },
};

const frame = `
*{box-sizing:border-box}
html{scroll-padding-top:1.5rem;-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:.95rem/1.55 var(--text);overflow-wrap:break-word}
a{color:var(--accent);text-underline-offset:.18em;text-decoration-thickness:.06em}
a:hover{text-decoration-thickness:.12em}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:3px}
main:focus{outline:none}
[hidden]{display:none!important}
.skip{position:absolute;left:1rem;top:-6rem;padding:.6rem 1rem;background:var(--accent);color:var(--paper);z-index:1;border-radius:0 0 .4rem .4rem}
.skip:focus{top:0}
.unseen{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.top,main,footer{max-width:84rem;margin-inline:auto;padding-inline:clamp(1rem,3vw,2rem)}
header{border-bottom:1px solid var(--line)}
.top{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem 2rem;padding-block:.7rem}
.brand{display:flex;align-items:center;gap:.5rem;font:600 1.3rem/1.2 var(--title);color:inherit;text-decoration:none}
.flourish{width:2.8rem;height:1.4rem;color:var(--accent);flex:none}
nav{margin-left:-.65rem}
nav ul{display:flex;flex-wrap:wrap;gap:0 .25rem;list-style:none;margin:0;padding:0}
nav a{display:block;padding:.55rem .65rem;color:inherit;text-decoration:none;border-bottom:2px solid transparent}
nav a:hover{border-color:var(--line)}
nav a[aria-current]{border-color:var(--accent);font-weight:600}
.who{display:flex;align-items:center;gap:.75rem;margin-left:auto}
.who a[aria-current]{color:inherit;font-weight:600;text-decoration:none}
.quiet{color:var(--quiet)}
main{padding-block:1.6rem 3rem}
h1,h2,h3{line-height:1.2;text-wrap:balance;font-weight:600}
h1,h2{font-family:var(--title)}
h1{font-size:clamp(1.6rem,1.4rem + 1vw,2.1rem);margin:0 0 1rem;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:1.3rem;margin:0 0 .8rem}
h3{font-size:.95rem;margin:1.4rem 0 .5rem}
p{max-width:46rem;margin:0 0 1rem}
code,.code{font-family:var(--code);font-size:.875em;overflow-wrap:anywhere}
footer{border-top:1px solid var(--line);padding-block:1rem 2rem;color:var(--quiet);font-size:.875rem}
footer p{margin:0}
.outside main{padding-block:clamp(1.5rem,8vh,5rem)}
.card{max-width:27rem;margin-inline:auto;padding:clamp(1.25rem,5vw,2rem);background:var(--raised);border:1px solid var(--line);border-radius:.75rem}
.card input[type=text],.card input[type=password]{min-height:2.9rem}
.card button{width:100%}
.card>:last-child{margin-bottom:0}
.other{margin:1.25rem 0 0;padding-top:1.25rem;border-top:1px solid var(--line)}
.other .button{width:100%}
`;

const forms = `
label,legend{display:block;font-weight:600;padding:0;font-size:.875rem;margin-bottom:.2rem}
.field{margin:0 0 1rem;min-width:0}
.hint{display:block;margin:.2rem 0 0;font-size:.85rem;color:var(--quiet);font-weight:400}
input,select,textarea{width:100%;min-height:2.5rem;padding:.35rem .6rem;font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--field);border-radius:.35rem}
textarea{min-height:4.5rem;resize:vertical}
[aria-invalid=true]{border:2px solid var(--bad)}
.error{margin:.2rem 0 0;color:var(--bad);font-size:.85rem;font-weight:600}
.button,button{display:inline-block;min-height:2.5rem;padding:.45rem 1.1rem;font:600 .95rem/1.5 var(--text);text-align:center;color:var(--paper);background:var(--accent);border:1px solid var(--accent);border-radius:.35rem;text-decoration:none;cursor:pointer}
.button:hover,button:hover{filter:brightness(1.1)}
.button.plain,button.plain{color:var(--accent);background:transparent;border-color:var(--field)}
.button.plain:hover,button.plain:hover{background:var(--raised);filter:none}
button.small{min-height:2rem;padding:.15rem .7rem;font-size:.875rem}
button.danger{background:var(--bad);border-color:var(--bad)}
button.link{min-height:0;padding:.2rem 0;background:none;border:0;color:var(--accent);font-weight:400;text-decoration:underline;text-underline-offset:.18em;text-decoration-thickness:.06em}
.actions{display:flex;flex-wrap:wrap;gap:.75rem 1rem;align-items:center}
.filter{margin:0 0 1.25rem;padding:1rem;background:var(--raised);border:1px solid var(--line);border-radius:.5rem}
.fields{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:.75rem 1rem;margin-bottom:1rem}
.fields .field{margin:0}
.narrow{max-width:34rem}
.ask{margin:0 0 1rem;padding:1rem;border:1px solid var(--line);border-radius:.5rem}
.ask h3:first-child{margin-top:0}
details{margin:0 0 1rem}
summary{padding:.3rem 0;cursor:pointer;color:var(--accent);font-weight:600;width:fit-content}
details .ask{margin-top:.5rem}
.ask>:last-child{margin-bottom:0}
td details{margin:0}
td summary{padding:0}
.ask form+form{margin-top:1.25rem;padding-top:1.25rem;border-top:1px solid var(--line)}
.banner{margin:0 0 1.25rem;padding:.8rem 1.1rem;border:1px solid var(--line);border-left:.35rem solid var(--accent);border-radius:.4rem;background:var(--raised);max-width:46rem}
.banner p{margin:0}
.banner.good{border-left-color:var(--good)}
.banner.bad{border-left-color:var(--bad)}
.secret{display:block;margin:.6rem 0;padding:.6rem .8rem;font:600 1.15rem/1.5 var(--code);background:var(--paper);border:1px solid var(--line);border-radius:.35rem;user-select:all;overflow-wrap:anywhere}
`;

const tables = `
.head{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:.25rem 1.5rem}
.bar{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.5rem 1.5rem;min-height:2.75rem;margin:0 0 .5rem}
.bar p,.bar form{margin:0}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
table.narrow{margin-bottom:1.5rem}
caption{text-align:left;padding:0 0 .4rem;font-weight:600}
th,td{padding:.5rem .75rem .5rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
thead th{color:var(--quiet);font-size:.8rem;font-weight:600;border-bottom-color:var(--field);white-space:nowrap}
tbody th{font-weight:400}
td.number,th.number{text-align:right;padding-right:1.25rem}
tbody tr:hover{background:var(--raised)}
tr.left{color:var(--quiet);text-decoration:line-through}
.nowrap{white-space:nowrap}
.sub{display:block;color:var(--quiet);font-size:.82rem;overflow-wrap:anywhere}
.state{font-weight:600;white-space:nowrap}
.state::before{content:"";display:inline-block;width:.6em;height:.6em;margin-right:.45em;border-radius:50%;background:currentColor}
.state.signed,.state.receipted,.state.done,.state.delivered{color:var(--good)}
.state.failed,.state.stopped,.state.dead{color:var(--bad)}
.state.failed::before,.state.stopped::before,.state.dead::before{border-radius:1px}
.state.pending,.state.submitted,.state.running,.state.stopping,.state.waiting{color:var(--open)}
.state.pending::before,.state.submitted::before,.state.running::before,.state.stopping::before,.state.waiting::before{background:none;box-shadow:inset 0 0 0 2px currentColor}
.paging{display:flex;justify-content:space-between;gap:1rem;margin:1rem 0}
.empty{padding:2rem 0;color:var(--quiet)}
@media (max-width:44rem){
.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.cards,.cards tbody,.cards tr{display:block}
.cards tr{display:flex;flex-wrap:wrap;align-items:baseline;gap:.1rem 1rem;padding:.6rem 0;border-bottom:1px solid var(--line)}
.cards td,.cards th{padding:0;border:0;min-width:0}
.cards td.number{padding:0}
.cards .wide{width:100%}
.cards .end{margin-left:auto}
.cards .first{order:-2}
.cards .second{order:-1}
.cards td:empty{display:none}
.cards td[data-label]::before{content:attr(data-label) " ";color:var(--quiet);font-size:.82rem}
}
`;

const figures = `
.periods{display:grid;gap:1.5rem 2.5rem}
.periods>*{min-width:0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr));margin:0 0 1.25rem;border:1px solid var(--line);border-radius:.5rem;overflow:hidden}
.tiles>div{padding:.7rem .9rem;box-shadow:0 0 0 .5px var(--line)}
.tiles dt{color:var(--quiet);font-size:.82rem}
.tiles dd{margin:0;font:600 1.35rem/1.3 var(--text);font-variant-numeric:tabular-nums}
.tiles dd small{font-size:.82rem;font-weight:400;color:var(--quiet)}
.panel{margin:0 0 1.25rem;padding:1rem 1.1rem;border:1px solid var(--line);border-radius:.5rem}
.panel h3:first-child{margin-top:0}
.panel>:last-child{margin-bottom:0}
svg.chart{display:block;width:100%;height:auto;overflow:visible}
svg text{font:11px var(--text);fill:var(--quiet)}
@media (max-width:44rem){svg.chart text{font-size:20px}}
.grid{stroke:var(--line);stroke-width:1}
.axis{stroke:var(--field);stroke-width:1}
.signed-bar{fill:var(--bar-good)}
.failed-bar{fill:var(--bar-bad)}
.rest-bar{fill:var(--line)}
.submitted-line{fill:none;stroke:var(--ink);stroke-width:1.5;stroke-linejoin:round}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.25rem;list-style:none;margin:.5rem 0 .75rem;padding:0;font-size:.85rem}
.legend svg{display:inline-block;width:.85em;height:.85em;margin-right:.4em;vertical-align:-.08em}
.share{width:100%;min-width:4rem;height:.7rem;display:block;margin-top:.4rem}
.columns{display:grid;gap:1.5rem 2.5rem;align-items:start}
.columns>*{min-width:0}
.columns+div{margin-top:1.5rem}
.facts{display:grid;grid-template-columns:minmax(7rem,auto) minmax(0,1fr);margin:0 0 1rem}
.facts dt,.facts dd{margin:0;padding:.35rem 1rem .35rem 0;border-bottom:1px solid var(--line)}
.facts dt{color:var(--quiet)}
.facts dd{overflow-wrap:anywhere;padding-right:0}
.said{margin:0;padding:.7rem .9rem;background:var(--raised);border-left:.2rem solid var(--field);white-space:pre-wrap;overflow-wrap:anywhere;max-height:16rem;overflow-y:auto}
.timeline{list-style:none;margin:0 0 1rem;padding:0}
.timeline li{position:relative;padding:0 0 1rem 1.5rem}
.timeline li::before{content:"";position:absolute;left:.2rem;top:.45rem;width:.6rem;height:.6rem;border-radius:50%;background:var(--paper);border:2px solid var(--field)}
.timeline li::after{content:"";position:absolute;left:.46rem;top:1.2rem;bottom:-.3rem;border-left:1px solid var(--line)}
.timeline li:last-child::after{display:none}
.timeline li.signed::before,.timeline li.receipted::before{border-color:var(--good);background:var(--good)}
.timeline li.failed::before{border-color:var(--bad);background:var(--bad);border-radius:1px}
.timeline li.deed::before{border-color:var(--accent);background:var(--accent)}
.timeline p{margin:0}
.timeline .attempt{color:var(--quiet);font-size:.82rem}
svg.statechart{display:block;width:100%;max-width:30rem;height:auto}
.statechart .node rect{fill:var(--paper);stroke:var(--field);stroke-width:1.5}
.statechart .node text{font:600 14px var(--text);fill:var(--quiet);text-anchor:middle}
.statechart .node.visited rect{stroke:var(--accent);stroke-width:2}
.statechart .node.visited text{fill:var(--ink)}
.statechart .node.here rect{fill:var(--tint);stroke-width:3}
.statechart .edge path{fill:none;stroke:var(--field);stroke-width:1.25;stroke-dasharray:4 4}
.statechart .edge polygon{fill:var(--field)}
.statechart .edge.taken path{stroke:var(--accent);stroke-width:2.5;stroke-dasharray:none}
.statechart .edge.taken polygon{fill:var(--accent)}
.statechart .edge text{font-size:11px;fill:var(--quiet)}
.statechart .edge.taken text{fill:var(--ink);font-weight:600}
.statechart .start{fill:var(--ink)}
progress{display:block;width:100%;height:.9rem;accent-color:var(--accent)}
@media (min-width:44rem){.fields{grid-template-columns:repeat(auto-fill,minmax(12rem,1fr))}}
@media (max-width:52rem){nav{order:3;width:100%}}
@media (min-width:60rem){.periods,.columns{grid-template-columns:1fr 1fr}.columns.main{grid-template-columns:3fr 2fr}}
@media (prefers-reduced-motion:no-preference){.button,button{transition:filter .12s}}
@media (forced-colors:active){.state::before,.signed-bar,.failed-bar{forced-color-adjust:none}.button,button{border:2px solid ButtonText}}
@media print{.skip,nav,.who,form,.bar button{display:none}}
`;

export const stylesheet = `${looks([own], 'screen and (prefers-color-scheme:dark)')}${frame}${forms}${tables}${figures}`;
