/** The page on which a document is read. Pure: from a model to text. */
import { html } from 'hono/html';
import type { PageFrame } from '../../../src/http/pages/assets.ts';
import { layOut } from '../../../src/http/pages/layout.ts';
import type { Html } from '../../../src/http/pages/markup.ts';
import { shownText } from '../../../src/http/pages/shown-text/shown-text.js';
import { shortCodeOf } from '../short-code.ts';
import { readerWords } from './words.ts';

export interface ReadDocument {
  readonly title: string;
  readonly pages: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

export interface ReaderView {
  readonly document: ReadDocument;
  /** The address of the PDF. */
  readonly content: string;
  /** Where the person came from. */
  readonly back: string;
  readonly script: string;
  readonly style: string;
}

export const readerPage = (frame: PageFrame, view: ReaderView): string => {
  const words = readerWords(frame.language);
  const { document, content, back, script, style } = view;
  return layOut(frame, {
    title: shownText(document.title),
    head: html`<link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script>`,
    main: html`<h1><bdi>${shownText(document.title)}</bdi></h1>
<dl class="about">
<div><dt>${words.pages}</dt><dd>${document.pages}</dd></div>
<div><dt>${words.code}</dt><dd><code>${shortCodeOf(document.sha256)}</code></dd></div>
</dl>
<p class="hint">${words.codeHint}</p>
<p class="ways"><a href="${back}">${words.back}</a><a href="${content}" download>${words.download}</a></p>
<noscript><p class="problem">${words.noScript}</p></noscript>
<p id="reading" role="status" hidden>${words.reading}</p>
<div class="tools" role="group" aria-label="${words.tools}" hidden>
<button type="button" class="secondary" id="out" aria-label="${words.smaller}">−</button>
<output id="zoom" for="out in">100 %</output>
<button type="button" class="secondary" id="in" aria-label="${words.larger}">+</button>
<p class="place" id="place"></p>
</div>
<div class="pages" role="region" aria-label="${words.content}" tabindex="0" data-content="${content}" data-page-label="${words.pageLabel}" data-place-label="${words.placeLabel}" data-failed="${words.failed}"></div>`,
  });
};

/** What stands on the page of a signer: which document is signed, and the link to read it. */
export const documentSection = (
  language: PageFrame['language'],
  document: ReadDocument,
  address: string,
): Html => {
  const words = readerWords(language);
  return html`<section class="document" aria-labelledby="read"><h2 id="read">${words.heading}</h2>
<p><bdi>${shownText(document.title)}</bdi></p>
<div class="actions"><a class="button secondary" href="${address}">${words.read}</a></div>
</section>`;
};
