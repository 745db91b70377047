/** An executable Chromium: CHROMIUM_PATH when set, else the first of the usual places. */
export function findChromium(
  environment?: Readonly<Record<string, string | undefined>>,
): string | undefined;
