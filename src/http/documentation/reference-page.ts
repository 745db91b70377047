/**
 * The page at `/docs`: Scalar's reference, which draws the OpenAPI document and sends requests to
 * this service ("try it").
 *
 * Scalar reads its settings from attributes, so no script is inline. What would ask other hosts is
 * off here (fonts, telemetry, its chat and its app) and forbidden by the policy of the page.
 */
import { html, raw } from 'hono/html';
import { codeColours, themeCss } from '../pages/theme.ts';
import { type Html, iconAddress } from './markup.ts';

const title = 'Paraph · mobile signature interface';

const settings = JSON.stringify({
  favicon: iconAddress,
  theme: 'none',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'direct',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  featuredClients: ['shell/curl', 'js/fetch', 'python/requests', 'java/okhttp'],
  orderSchemaPropertiesBy: 'preserve',
  orderRequiredPropertiesFirst: false,
  defaultRequestBodyView: 'raw',
  expandAllSchemaProperties: true,
  maxVisibleRequestBodyProperties: 0,
});

/** Our colours and typefaces in Scalar's names for them. */
const looks = `${themeCss([codeColours])}
body{font:1rem/1.6 var(--text)}
.light-mode,.dark-mode{
--scalar-font:var(--text);--scalar-font-code:var(--code);
--scalar-background-1:var(--paper);--scalar-background-2:var(--raised);--scalar-background-3:color-mix(in srgb,var(--line) 60%,var(--paper));
--scalar-color-1:var(--ink);--scalar-color-2:var(--quiet);--scalar-color-3:var(--quiet);
--scalar-color-accent:var(--accent);--scalar-border-color:var(--line);
--scalar-color-green:var(--good);--scalar-color-red:var(--bad);--scalar-color-blue:var(--accent);
--scalar-color-orange:var(--literal);--scalar-color-purple:var(--name)}
.markdown :is(th,td){word-break:normal!important;overflow-wrap:break-word!important;padding:.5rem .6rem!important}
.markdown td code{overflow-wrap:anywhere!important}
.markdown td:first-child{min-width:5.5rem}
.markdown pre code.hljs{white-space:pre-wrap!important;overflow:visible!important;overflow-wrap:anywhere}
`;

/**
 * @param script Address of Scalar's script.
 * @param nonce The nonce of style elements: the page's own and those that the script adds.
 */
export const referencePage = (script: string, nonce: string): Html =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta property="csp-nonce" content="${nonce}">
<title>${title}</title>
<link rel="icon" href="${iconAddress}">
<style nonce="${nonce}">${raw(looks)}</style>
</head>
<body>
<noscript>This page needs JavaScript. The interface is described in <a href="/openapi.json">/openapi.json</a>, too.</noscript>
<script id="api-reference" type="application/json" data-url="/openapi.json" data-configuration="${settings}"></script>
<script src="${script}"></script>
</body>
</html>
`;
