/**
 * The documentation site (`npm run site`): the Markdown of this repository as it stands, with
 * search.
 *
 * Its source folder is the repository, so the links that GitHub follows lead to the same places
 * here. Nothing is fetched from elsewhere, and all addresses are relative: any path can serve the
 * result. Diagrams, which GitHub draws from mermaid, are drawn when the site is built; mermaid
 * itself would be 15 MB and needs a browser.
 *
 * VitePress is pinned to an alpha of 2.0: the stable 1.6 brings a second Vite, with an esbuild of
 * known weaknesses. The site is served as it was built, because a development server at this folder
 * would also serve `.paraph`, with the master key.
 */
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderMermaidSVG } from 'beautiful-mermaid';
import { type DefaultTheme, defineConfig } from 'vitepress';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
};

/** The heading of a page. */
const titleOf = (file: string): string | undefined =>
  /^# (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1];

/** Entries for the links of a list. A page of `docs/login/` lies below `docs/login.md`. */
const entriesOf = (list: string): DefaultTheme.SidebarItem[] => {
  const entries: DefaultTheme.SidebarItem[] = [];
  for (const [, name = '', link = ''] of list.matchAll(/\[([^\]]+)\]\(([^)]+)\.md\)/g)) {
    const entry = { text: name.replace(/^\w/, (letter) => letter.toUpperCase()), link: `/${link}` };
    const parent = entries.find(({ link: above }) => entry.link.startsWith(`${above}/`));
    if (parent === undefined) entries.push(entry);
    else Object.assign(parent, { collapsed: true, items: [...(parent.items ?? []), entry] });
  }
  return entries;
};

/** The documents of the README in its order; a line in bold begins a group. */
const sidebar = (): DefaultTheme.SidebarItem[] => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, list = ''] = /\n## Documents\n(.*?)\n## /s.exec(readme) ?? [];
  return [...list.matchAll(/^\*\*(.+)\*\*\n((?:(?!\*\*).*\n)*)/gm)].map(
    ([, text = '', links = '']) => ({
      text,
      items: entriesOf(links),
    }),
  );
};

/** In the colours of the theme, light or dark, and without the font of a stranger's server. */
const draw = (diagram: string): string =>
  renderMermaidSVG(diagram, {
    bg: 'var(--vp-c-bg)',
    fg: 'var(--vp-c-text-1)',
    muted: 'var(--vp-c-text-1)',
    font: 'system-ui',
    transparent: true,
  }).replace(/@import url\([^)]*\);/, '');

/** What the pages link to and is no page: examples, schemas. */
const linkedFiles = new Set<string>();

export default defineConfig({
  title: 'Paraph',
  description: 'An open mobile signature service',
  lang: 'en',
  base: './',
  head: [
    ['link', { rel: 'icon', href: 'data:,' }],
    // The theme makes every picture a block; badges stand side by side.
    [
      'style',
      {},
      '.vp-doc p img { display: inline } ' +
        '.diagram svg { display: block; max-width: 100%; height: auto } ' +
        // Words that cross a line stay readable.
        '.diagram text { paint-order: stroke; stroke: var(--vp-c-bg); stroke-width: 4px }',
    ],
  ],
  srcDir: root,
  srcExclude: [
    '{dist,machines,node_modules,packages,parts,scripts,src,test,workers}/**',
    '**/{node_modules,services}/**',
  ],
  outDir: join(root, '.cache/site'),
  cacheDir: join(root, '.cache/vitepress'),
  rewrites: { 'README.md': 'index.md' },
  markdown: {
    languageAlias: { caddyfile: 'txt', haproxy: 'txt' },
    config: (md) => {
      const { fence } = md.renderer.rules;
      md.renderer.rules.fence = (tokens, index, ...others) => {
        const { info = '', content = '' } = tokens[index] ?? {};
        if (info.trim() !== 'mermaid') return fence?.(tokens, index, ...others) ?? '';
        // As an attribute, because a page is a template of Vue, which has no place for a style.
        return `<figure class="diagram" v-html="${md.utils.escapeHtml(JSON.stringify(draw(content)))}"></figure>`;
      };
      md.core.ruler.push('links', ({ tokens, env }) => {
        const inline = tokens.flatMap(({ children }) => children ?? []);
        for (const [index, link] of inline.entries()) {
          const href = link.type === 'link_open' ? (link.attrGet('href') ?? '') : '';
          if (href === '' || /^([a-z]+:|#)/.test(href)) continue;
          const [path = ''] = href.split('#');
          const file = resolve(dirname(env.realPath ?? env.path), path);
          if (file === join(root, 'README.md'))
            link.attrSet('href', href.replace('README.md', 'index.md'));
          if (path.endsWith('.md')) {
            // In the repository a link may be the name of its file; a reader of the site knows none.
            const words = inline[index + 1];
            const title = existsSync(file) ? titleOf(file) : undefined;
            if (words?.content.endsWith('.md') && title !== undefined) words.content = title;
            continue;
          }
          if (!existsSync(file))
            throw new Error(`${env.relativePath} links to ${path}, which does not exist`);
          linkedFiles.add(relative(root, file));
          link.attrSet('target', '_blank');
        }
      });
    },
  },
  buildEnd: ({ outDir }) => {
    for (const file of linkedFiles) {
      mkdirSync(dirname(join(outDir, file)), { recursive: true });
      cpSync(join(root, file), join(outDir, file), { recursive: true });
    }
  },
  titleTemplate: `:title | Paraph ${version}`,
  themeConfig: {
    // At the top of every page.
    siteTitle: `Paraph ${version}`,
    search: { provider: 'local' },
    sidebar: sidebar(),
    outline: 'deep',
  },
  vite: { publicDir: false },
});
