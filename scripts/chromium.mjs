/** Finds the system's Chromium for the browser tests: playwright-core brings no browser. */
import { accessSync, constants } from 'node:fs';

const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * @param {Record<string, string | undefined>} [environment] CHROMIUM_PATH is the only place, if
 * set.
 * @returns {string | undefined} An executable file.
 */
export function findChromium(environment = process.env) {
  const places = environment.CHROMIUM_PATH ? [environment.CHROMIUM_PATH] : usualPlaces;
  return places.find(isExecutable);
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
