/** Paraph's mark, a stroke of the pen. */
const stroke = (colour: string): string =>
  `<path d="M6 25C13 17 21 4 17 3c-5-1-10 21-6 22 5 1 12-15 20-14 6 1-4 9 1 10 6 1 9-9 14-8 4 1-1 6 3 6 3 0 7-3 11-6" fill="none" stroke="${colour}" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/>`;

/** Decoration, so it has no words. */
export const flourish = `<svg class="flourish" viewBox="0 0 64 32" aria-hidden="true" focusable="false">${stroke('currentColor')}</svg>`;

/** For the tab: a file of its own, because the pages' policy lets nothing else in. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="2 -2 32 32">${stroke('#4a7fc6')}</svg>`;
