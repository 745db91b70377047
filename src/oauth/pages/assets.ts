/** What the pages load. Their addresses carry a hash of the content, so that a browser may keep them for ever. */
import { hash } from 'node:crypto';
import type { OauthBranding } from '../../registry/oauth-client.ts';
import { inkOn, plainColour } from './colours.ts';
import type { PageFrame } from './frame.ts';
import { script } from './script.ts';
import { stylesheet } from './stylesheet.ts';

export { script } from './script.ts';
export { stylesheet } from './stylesheet.ts';

/** What the browser shows beside the title. Without one it would ask for a file that nobody has. */
export const icon = ({ color }: OauthBranding): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" rx="10" fill="${plainColour(color)}"/><path d="M19 9h10a3 3 0 0 1 3 3v24a3 3 0 0 1-3 3H19a3 3 0 0 1-3-3V12a3 3 0 0 1 3-3zM22.5 34h3" fill="none" stroke="${inkOn(color)}" stroke-width="3" stroke-linecap="round"/></svg>`;

interface Hashes {
  readonly stylesheet: string;
  readonly script: string;
  readonly logo: string;
  readonly icon: string;
}

const hashOf = (content: string): string => hash('sha256', content, 'base64url').slice(0, 12);

const scriptHash = hashOf(script);

/** A tenant's looks never change while it runs. */
const known = new WeakMap<OauthBranding, Hashes>();

const hashesOf = (branding: OauthBranding): Hashes => {
  const hashes = known.get(branding) ?? {
    stylesheet: hashOf(stylesheet(branding)),
    script: scriptHash,
    logo: hashOf(branding.logoSvg ?? ''),
    icon: hashOf(icon(branding)),
  };
  known.set(branding, hashes);
  return hashes;
};

export const assetPaths = ({ path, branding }: Pick<PageFrame, 'path' | 'branding'>): Hashes => {
  const hashes = hashesOf(branding);
  return {
    stylesheet: `${path}/assets/login.css?v=${hashes.stylesheet}`,
    script: `${path}/assets/login.js?v=${hashes.script}`,
    logo: `${path}/assets/logo.svg?v=${hashes.logo}`,
    icon: `${path}/assets/icon.svg?v=${hashes.icon}`,
  };
};
