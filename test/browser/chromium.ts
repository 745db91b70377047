/** A Chromium for a file of tests, and a fresh visitor for each. */
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type LaunchOptions,
} from 'playwright-core';

export const chromiumOptions = (): LaunchOptions => ({
  executablePath: process.env.CHROMIUM_PATH ?? '',
  args: [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});

export const launchChromium = (): Promise<Browser> => chromium.launch(chromiumOptions());

/**
 * A page that is closed at the moment when a reload arrives may never report that it is closed
 * (microsoft/playwright#42068), and ours load themselves again: they are left first.
 */
export const leave = async (context: BrowserContext): Promise<void> => {
  for (const page of context.pages()) {
    let isLeft = false;
    // Its own reload may come between.
    for (let attempt = 0; attempt < 5 && !isLeft; attempt += 1) {
      isLeft = await page.goto('about:blank', { timeout: 5000 }).then(
        () => true,
        () => page.isClosed(),
      );
    }
  }
};

/** A browser that knows nothing yet; it is closed when the test is done with it. */
export const withContext = async (
  browser: Browser,
  options: BrowserContextOptions,
  use: (context: BrowserContext) => Promise<void>,
): Promise<void> => {
  const context = await browser.newContext(options);
  try {
    await use(context);
  } finally {
    await leave(context);
    await context.close();
  }
};
