import { z } from 'zod';

/**
 * The logo of a tenant: the text of an SVG file that is only a picture. Scripts, requests and
 * references to other documents are refused. The policy of the pages would block most of them, too,
 * but an error at the start is better than a missing logo.
 */
const maxBytes = 32 * 1024;

const forbidden: readonly (readonly [RegExp, string])[] = [
  [/<!(?!--)|<\?(?!xml\s)/i, 'must not have a document type, entities or processing instructions'],
  // First, because the other tests do not decode references.
  [/&(?!(?:amp|lt|gt|quot|apos);)|\\/, 'must not have character references or backslashes'],
  [
    /<\s*(?:[\w.-]+:)?(?:script|foreignObject|iframe|object|embed|audio|video|link|meta|handler|listener)\b/i,
    'must not have scripts, foreign objects or media',
  ],
  [/[\s"'/]on[\w.:-]*\s*=/i, 'must not have event handlers'],
  [
    /\bhref\s*=\s*(?!"#|'#|"data:image\/(?:png|jpeg|gif|webp);base64,|'data:image\/(?:png|jpeg|gif|webp);base64,)/i,
    'must not refer to anything outside of it',
  ],
  [
    /\bsrc\s*=|attributeName\s*=\s*["']?\s*(?:[\w-]+:)?(?:href|on)/i,
    'must not refer to anything outside of it',
  ],
  [
    /url\s*\(\s*(?!["']?\s*#)|@import|image-set|javascript:/i,
    'must not refer to anything outside of it',
  ],
];

const isSvg = (text: string): boolean =>
  /^\uFEFF?\s*(?:<\?xml\s[^>]*\?>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<svg[\s>]/.test(text) &&
  /<\/svg>\s*$/.test(text);

export const logoSvg = z.string().superRefine((text, context) => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  if (Buffer.byteLength(text) > maxBytes) return refuse('must not be longer than 32 KiB');
  if (!isSvg(text)) return refuse('must be the text of an SVG file, from <svg to </svg>');
  for (const message of new Set(
    forbidden.flatMap(([pattern, told]) => (pattern.test(text) ? [told] : [])),
  )) {
    refuse(message);
  }
});
