/**
 * Functions that are sent into the browser and run in the page: each stands alone, since nothing
 * else goes with it. They are not TypeScript, because the browser's types would then be
 * everybody's.
 */

/** Opens every example, as a reader might. */
export function openAll() {
  for (const details of document.querySelectorAll('details')) details.open = true;
}

export function widths() {
  return { content: document.documentElement.scrollWidth, window: window.innerWidth };
}

export function background() {
  return getComputedStyle(document.body).backgroundColor;
}

export function focused() {
  const element = document.activeElement;
  return {
    text: element?.textContent ?? '',
    inMain: element?.closest('main') !== null,
    outline: element ? getComputedStyle(element).outlineStyle : '',
  };
}

/** Links within the page whose target is not there. */
export function brokenLinks() {
  return [...document.querySelectorAll('a[href^="#"]')]
    .map((link) => link.getAttribute('href') ?? '')
    .filter((target) => document.getElementById(target.slice(1)) === null);
}

export function repeatedIds() {
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  return ids.filter((id, index) => ids.indexOf(id) !== index);
}

/**
 * Texts whose contrast with the nearest opaque background below them is less than WCAG 2.2 level AA
 * wants (1.4.3): 4.5 to 1, or 3 to 1 for large type.
 */
export function poorContrasts() {
  const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (colour) => {
    const [red, green, blue] = channels(colour).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const backgroundOf = (element) => {
    if (element === null) return 'rgb(255, 255, 255)';
    const { backgroundColor } = getComputedStyle(element);
    const [, , , alpha = 1] = channels(backgroundColor);
    return alpha === 1 ? backgroundColor : backgroundOf(element.parentElement);
  };
  const hasText = (element) =>
    [...element.childNodes].some(
      (node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== '',
    );
  const contrastOf = (element) => {
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const [bright, dim] = [luminance(color), luminance(backgroundOf(element))].sort(
      (a, b) => b - a,
    );
    const size = Number.parseFloat(fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700);
    return {
      text: element.textContent.slice(0, 40),
      ratio: (bright + 0.05) / (dim + 0.05),
      needed: large ? 3 : 4.5,
    };
  };
  return [...document.body.querySelectorAll('*')]
    .filter((element) => hasText(element) && getComputedStyle(element).opacity !== '0')
    .map(contrastOf)
    .filter(({ ratio, needed }) => ratio < needed);
}
