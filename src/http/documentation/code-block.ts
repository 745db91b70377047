/**
 * JSON and shell commands as blocks. Colour separates names from values; nothing depends on seeing it.
 */
import { html } from 'hono/html';
import type { Html } from './markup.ts';

const indent = (depth: number): string => '  '.repeat(depth);

const joined = (lines: readonly unknown[], depth: number, open: string, close: string): Html =>
  html`${open}
${lines.map((line, index) => html`${indent(depth + 1)}${line}${index < lines.length - 1 ? ',' : ''}\n`)}${indent(depth)}${close}`;

const value = (json: unknown, depth: number): unknown => {
  if (Array.isArray(json)) {
    return json.length === 0
      ? '[]'
      : joined(
          json.map((element) => value(element, depth + 1)),
          depth,
          '[',
          ']',
        );
  }
  if (typeof json === 'object' && json !== null) {
    const members = Object.entries(json);
    const lines = members.map(
      ([name, member]) =>
        html`<span class="name">${JSON.stringify(name)}</span>: ${value(member, depth + 1)}`,
    );
    return lines.length === 0 ? '{}' : joined(lines, depth, '{', '}');
  }
  return html`<span class="${typeof json === 'string' ? 'string' : 'literal'}">${JSON.stringify(json)}</span>`;
};

export const jsonBlock = (json: object): Html => html`<pre><code>${value(json, 0)}</code></pre>`;

export const shellBlock = (text: string): Html => html`<pre><code>${text}</code></pre>`;
