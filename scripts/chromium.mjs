/**
 * Finds the Chromium that the browser tests drive.
 *
 * playwright-core brings no browser of its own, and a download of some hundred megabytes is not a
 * test run's business: the system's Chromium is used, and where there is none the browser tests are
 * left out with a word.
 */
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
 * @param {Record<string, string | undefined>} [environment]  CHROMIUM_PATH, when set, is the only place looked at.
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
