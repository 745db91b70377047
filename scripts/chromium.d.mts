/** An executable Chromium: CHROMIUM_PATH when set, else the first of the usual places that has one. */
export function findChromium(environment?: Readonly<Record<string, string | undefined>>): string | undefined;
