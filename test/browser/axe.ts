/** The accessibility rules that pages of our own keep whole. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * The rules of WCAG 2.2 A and AA, and axe's own, that a page breaks, each with what breaks it.
 *
 * @param rules The only rules to look at.
 */
export const complaintsOfAxe = async (
  page: Page,
  rules: readonly string[] = tags,
): Promise<readonly string[]> => {
  // The policy of the page lets no inline script in, and the debugger's own scripts pass.
  await page.evaluate(axe.source);
  return page.evaluate(`axe.run({ runOnly: ${JSON.stringify(rules)} })
    .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);
};
