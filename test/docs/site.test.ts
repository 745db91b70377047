/** The documentation site, as far as it differs from what the Markdown says by itself. */
import { join } from 'node:path';
import { createMarkdownRenderer } from 'vitepress';
import { expect, it } from 'vitest';
import site from '../../docs/.vitepress/config.ts';
import { blocksOf, pagePaths, readPage, root } from './pages.ts';

const pages = pagePaths.filter((path) => blocksOf(readPage(path), 'mermaid').length > 0);

it('has pages with diagrams', () => {
  expect(pages).not.toEqual([]);
});

const render = async (path: string): Promise<string> => {
  // Without the colours of code, whose WebAssembly takes no Response but Node's own: other files
  // replace it.
  const renderer = await createMarkdownRenderer(root, {
    ...site.markdown,
    highlight: (code) => code,
  });
  const env = { path: join(root, path), relativePath: path };
  return renderer.renderAsync(readPage(path), env);
};

it('names a page by its title where the repository has the name of its file', async () => {
  expect(readPage('docs/phone.md')).toContain('](login.md#');
  const html = await render('docs/install.md');
  expect(html).toContain('>The HTTP client</a>');
  for (const path of pagePaths)
    expect([path, ...(await render(path)).matchAll(/>[^<>]*\.md<\/a>/g)]).toEqual([path]);
});

it('says on each page of which version it is', () => {
  const { version } = JSON.parse(readPage('package.json'));
  expect(site.themeConfig?.siteTitle).toBe(`Paraph ${version}`);
  expect(site.titleTemplate).toBe(`:title | Paraph ${version}`);
});

it.each(pages)('draws the diagrams of %s, with nothing from elsewhere', async (path) => {
  const page = readPage(path);
  const html = await render(path);
  const drawn = [...html.matchAll(/<figure class="diagram" v-html="([^"]*)"><\/figure>/g)].map(
    ([, svg]) => svg,
  );
  expect(drawn).toHaveLength(blocksOf(page, 'mermaid').length);
  for (const svg of drawn) expect(svg).toContain('/svg&gt;');
  expect(html).not.toContain('language-mermaid');
  expect(drawn.join().replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:/);
});
