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

it.each(pages)('draws the diagrams of %s, with nothing from elsewhere', async (path) => {
  const page = readPage(path);
  // Without the colours of code, whose WebAssembly takes no Response but Node's own: other files
  // replace it.
  const renderer = await createMarkdownRenderer(root, {
    ...site.markdown,
    highlight: (code) => code,
  });
  const html = await renderer.renderAsync(page, { path: join(root, path), relativePath: path });
  const drawn = [...html.matchAll(/<figure class="diagram" v-html="([^"]*)"><\/figure>/g)].map(
    ([, svg]) => svg,
  );
  expect(drawn).toHaveLength(blocksOf(page, 'mermaid').length);
  for (const svg of drawn) expect(svg).toContain('/svg&gt;');
  expect(html).not.toContain('language-mermaid');
  expect(drawn.join().replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:/);
});
