/**
 * Shows the pages of a document, each when it comes near the window, with its text above the
 * picture, so that it can be selected, searched and read aloud.
 *
 * Pictures of pages that are far away are thrown away: a phone has little memory for them. The
 * texts stay. Nothing in a document runs or leads anywhere: no scripts, no forms, no links.
 */
import * as pdfjs from './pdfjs/pdf.min.mjs';

const viewer = document.querySelector('.pages');
const { content, pageLabel, placeLabel, failed } = viewer.dataset;
const status = document.querySelector('#reading');
const zoomShown = document.querySelector('#zoom');
const place = document.querySelector('#place');

const here = (path) => new URL(path, import.meta.url).href;
pdfjs.GlobalWorkerOptions.workerSrc = here('./pdfjs/pdf.worker.min.mjs');

const zooms = [0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 4];
/** Safari shows no canvas with more pixels. */
const maxPixels = 16_000_000;
/** Pages on either side of the window whose pictures are kept. */
const kept = 3;

const fill = (text, values) => text.replaceAll(/\{(\w+)\}/g, (_, name) => values[name]);

let zoom = zooms.indexOf(1);
let pages = [];
let current = 1;
/** @type {IntersectionObserver} */
let near;

/** The width of the page on the screen, in CSS pixels. */
const widthOf = (page) => {
  const natural = page.size?.width ?? pages[0].size.width;
  const room = viewer.clientWidth - 16;
  // At 100 % a page fills the width, but is no larger than 1.6 times its size on paper.
  return Math.min(room, natural * (96 / 72) * 1.6) * zooms[zoom];
};

const layOut = (page) => {
  const size = page.size ?? pages[0].size;
  const width = widthOf(page);
  page.element.style.width = `${width}px`;
  page.element.style.height = `${(width * size.height) / size.width}px`;
  page.element.style.setProperty('--total-scale-factor', String(width / size.width));
  page.element.style.setProperty('--scale-round-x', '1px');
  page.element.style.setProperty('--scale-round-y', '1px');
};

const forget = (page) => {
  page.task?.cancel();
  page.task = undefined;
  page.drawnWidth = undefined;
  if (page.canvas === undefined) return;
  page.canvas.width = 0;
  page.canvas.height = 0;
  page.canvas.remove();
  page.canvas = undefined;
};

const addText = async (page, source) => {
  if (page.text !== undefined) return;
  const container = document.createElement('div');
  container.className = 'text';
  page.text = container;
  page.element.append(container);
  const layer = new pdfjs.TextLayer({
    textContentSource: source.streamTextContent({ includeMarkedContent: true }),
    container,
    viewport: source.getViewport({ scale: 1 }),
  });
  await layer.render();
};

const draw = async (page) => {
  const width = widthOf(page);
  if (page.drawnWidth === width) return;
  page.drawnWidth = width;
  page.task?.cancel();
  try {
    const source = await page.source();
    const base = source.getViewport({ scale: 1 });
    page.size = { width: base.width, height: base.height };
    layOut(page);
    const shown = widthOf(page);
    page.drawnWidth = shown;
    const wanted = (shown / base.width) * (globalThis.devicePixelRatio || 1);
    const largest = Math.sqrt(maxPixels / (base.width * base.height));
    const viewport = source.getViewport({ scale: Math.min(wanted, largest) });
    const canvas = document.createElement('canvas');
    canvas.width = Math.floor(viewport.width);
    canvas.height = Math.floor(viewport.height);
    // The text is above it.
    canvas.setAttribute('aria-hidden', 'true');
    page.task = source.render({
      canvas,
      viewport,
      annotationMode: pdfjs.AnnotationMode.ENABLE,
    });
    await page.task.promise;
    const before = page.canvas;
    page.canvas = canvas;
    page.element.prepend(canvas);
    before?.remove();
    await addText(page, source);
  } catch (error) {
    if (error?.name === 'RenderingCancelledException') return;
    page.drawnWidth = undefined;
    const problem = document.createElement('p');
    problem.className = 'failed';
    problem.textContent = failed;
    page.element.replaceChildren(problem);
  }
};

const showPlace = () => {
  place.textContent = fill(placeLabel, { page: current, pages: pages.length });
};

/** Draws what is near, and forgets what is far. */
const look = () => {
  const seen = pages.filter(({ isNear }) => isNear);
  if (seen.length === 0) return;
  const middle = innerHeight / 2;
  const at = seen.find(({ element }) => element.getBoundingClientRect().bottom >= middle);
  current = (at ?? seen.at(-1)).number;
  showPlace();
  const first = seen[0].number - kept;
  const last = seen.at(-1).number + kept;
  for (const page of pages) {
    if (page.isNear) void draw(page);
    else if (page.number < first || page.number > last) forget(page);
  }
};

const relayOut = () => {
  for (const page of pages) layOut(page);
  look();
};

const setZoom = (next) => {
  const wanted = Math.max(0, Math.min(zooms.length - 1, next));
  if (wanted === zoom) return;
  const kept = pages[current - 1].element;
  const { top, height } = kept.getBoundingClientRect();
  zoom = wanted;
  zoomShown.value = `${Math.round(zooms[zoom] * 100)} %`;
  relayOut();
  // The same place of the page stays where it was.
  const after = kept.getBoundingClientRect();
  scrollBy(0, after.top - top * (after.height / height));
};

const useTools = () => {
  document.querySelector('#out').addEventListener('click', () => setZoom(zoom - 1));
  document.querySelector('#in').addEventListener('click', () => setZoom(zoom + 1));
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '+') setZoom(zoom + 1);
    else if (event.key === '-') setZoom(zoom - 1);
    else if (event.key === '0') setZoom(zooms.indexOf(1));
  });
  let width = viewer.clientWidth;
  new ResizeObserver(() => {
    if (viewer.clientWidth === width) return;
    width = viewer.clientWidth;
    relayOut();
  }).observe(viewer);
  let waiting = false;
  addEventListener(
    'scroll',
    () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        look();
      });
    },
    { passive: true },
  );
};

const placeholder = (file, number) => {
  const element = document.createElement('section');
  element.className = 'page';
  element.setAttribute('aria-label', fill(pageLabel, { page: number, pages: file.numPages }));
  let source;
  return {
    number,
    element,
    isNear: false,
    source: () => {
      source ??= file.getPage(number);
      return source;
    },
  };
};

const begin = async () => {
  const file = await pdfjs.getDocument({
    url: content,
    cMapUrl: here('./pdfjs/cmaps/'),
    cMapPacked: true,
    standardFontDataUrl: here('./pdfjs/standard_fonts/'),
    wasmUrl: here('./pdfjs/wasm/'),
    iccUrl: here('./pdfjs/iccs/'),
    disableAutoFetch: true,
    rangeChunkSize: 262_144,
    enableXfa: false,
    isEvalSupported: false,
    stopAtErrors: false,
  }).promise;
  pages = Array.from({ length: file.numPages }, (_, index) => placeholder(file, index + 1));
  const { width, height } = (await pages[0].source()).getViewport({ scale: 1 });
  pages[0].size = { width, height };
  for (const page of pages) layOut(page);
  viewer.append(...pages.map(({ element }) => element));
  status.hidden = true;
  document.querySelector('.tools').hidden = false;
  useTools();
  showPlace();
  const byElement = new Map(pages.map((page) => [page.element, page]));
  near = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries)
        byElement.get(target).isNear = isIntersecting;
      look();
    },
    { rootMargin: '100% 0px' },
  );
  for (const { element } of pages) near.observe(element);
};

status.hidden = false;
begin().catch(() => {
  status.textContent = failed;
});
