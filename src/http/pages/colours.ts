/**
 * Readable colours, made from a tenant's colour. Source: WCAG 2.2, 1.4.3 (4.5 to 1 for text) and
 * the definition of relative luminance.
 */
type Channels = readonly [red: number, green: number, blue: number];

export const minContrast = 4.5;

const black: Channels = [0, 0, 0];
const white: Channels = [255, 255, 255];

/** @param hex `#rrggbb`; anything else counts as black. */
const channelsOf = (hex: string): Channels => {
  const [, red, green, blue] = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(hex) ?? [];
  if (red === undefined || green === undefined || blue === undefined) return black;
  return [Number.parseInt(red, 16), Number.parseInt(green, 16), Number.parseInt(blue, 16)];
};

const hexOf = (channels: Channels): string =>
  `#${channels.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`;

const linear = (value: number): number => {
  const share = value / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
};

const luminance = ([red, green, blue]: Channels): number =>
  0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);

/** A colour that is safe in a style sheet, whatever the text was. */
export const plainColour = (hex: string): string => hexOf(channelsOf(hex));

/** The contrast of two colours: from 1 (the same colour) to 21 (black on white). */
export const contrast = (one: string, other: string): number => {
  const a = luminance(channelsOf(one));
  const b = luminance(channelsOf(other));
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
};

const mix = (from: Channels, to: Channels, share: number): Channels => [
  from[0] + (to[0] - from[0]) * share,
  from[1] + (to[1] - from[1]) * share,
  from[2] + (to[2] - from[2]) * share,
];

/** One of the two always has 4.5 to 1. */
export const inkOn = (background: string): '#000000' | '#ffffff' =>
  contrast(background, '#ffffff') >= contrast(background, '#000000') ? '#ffffff' : '#000000';

/** The colour of a pressed button: further from that of its text, so never harder to read. */
export const pressed = (background: string): string =>
  hexOf(mix(channelsOf(background), inkOn(background) === '#ffffff' ? black : white, 0.18));

/** The colour, made darker or lighter until it can be read on all backgrounds. */
export const readableOn = (
  colour: string,
  backgrounds: readonly string[],
  least = minContrast,
): string => {
  const from = channelsOf(colour);
  const to = backgrounds.every((background) => inkOn(background) === '#000000') ? black : white;
  for (let percent = 0; percent < 100; percent += 2) {
    const candidate = hexOf(mix(from, to, percent / 100));
    if (backgrounds.every((background) => contrast(candidate, background) >= least))
      return candidate;
  }
  return hexOf(to);
};
