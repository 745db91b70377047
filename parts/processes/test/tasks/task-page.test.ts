import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  count,
  frameOf,
  holdPages,
  hostileTexts,
  skeleton,
} from '../../../../test/http/pages/page-contract.ts';
import { type TaskView, taskNotice, taskPage } from '../../tasks/task-page.ts';
import type { Task } from '../../tasks/tasks.ts';
import { everyTaskPage, now, taskViews, viewOf } from './every-task-page.ts';

holdPages(everyTaskPage);

const render = (view: TaskView): string => taskPage(frameOf('en'), view);
const open = { kind: 'open', mayAsk: true } as const;

const withTexts = ({ task, ...view }: TaskView, text: string): TaskView => ({
  ...view,
  task: {
    ...task,
    ...(Object.fromEntries(
      (['application', 'step', 'name', 'text', 'msisdn'] as const).map((name) => [name, text]),
    ) as Pick<Task, 'text'>),
    ...(task.title !== undefined && { title: text }),
    signed: task.signed.map(({ at }) => ({ name: text, at })),
  },
});

describe('the page of a signer', () => {
  it('says who asks, what for, the whole text and who has signed already', () => {
    const page = render(viewOf(open, { text: `${'a'.repeat(230)}\nend` }));
    expect(page).toContain(
      '\u2068Example Insurance\u2069 asks for a signature by \u2068Anna Muster\u2069.',
    );
    expect(page).toContain('<dd><bdi>Contract 4711</bdi></dd>');
    expect(page).toContain(`${'a'.repeat(230)}\nend</p>`);
    expect(page).toMatch(
      /<bdi>Beat Beispiel<\/bdi> <time datetime="2026-10-11T14:03:00.000Z">11 October 2026/,
    );
  });

  it('says the same while the phone asks', () => {
    const page = render(viewOf({ kind: 'asking', deadline: now + 80_000 }));
    expect(page).toContain(
      '\u2068Example Insurance\u2069 asks for a signature by \u2068Anna Muster\u2069.',
    );
    expect(page).toContain('<dd><bdi>Contract 4711</bdi></dd>');
    expect(page).toContain('<bdi>Beat Beispiel</bdi>');
  });

  it('shows no whole number', () => {
    for (const view of Object.values(taskViews)) {
      expect(render(view).replaceAll(/\D/g, '')).not.toContain('791234501');
    }
    expect(render(viewOf(open))).toContain('+41\u00a0…\u00a001');
  });

  it('escapes whatever it is given', () => {
    fc.assert(
      fc.property(hostileTexts, fc.constantFrom(...Object.values(taskViews)), (text, view) => {
        expect(skeleton(render(withTexts(view, text)))).toBe(
          skeleton(render(withTexts(view, 'plain'))),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('shows by its name what a person would sign without seeing it', () => {
    const hidden = 'Pay\u00ad 10\u{e0041} CH\u200dF\ufe0f, 9\u0338000?';
    const page = render(viewOf(open, { text: hidden, name: hidden, title: hidden, step: hidden }));
    const shown = 'Pay[U+00AD] 10[U+E0041] CH[U+200D]F[U+FE0F], 9[U+0338]000?';
    expect(page.split(shown)).toHaveLength(5);
  });

  it('shows characters that turn the direction of text by their names, and names and titles apart', () => {
    const page = render(
      viewOf(open, { name: '\u202ean\u2069na', title: '\u202eevil', text: '\u061ctext\u200f' }),
    );
    expect(page).toContain('<bdi>[U+202E]evil</bdi>');
    expect(page).toContain('<p dir="auto">[U+061C]text[U+200F]</p>');
    expect(page).toContain('by \u2068[U+202E]an[U+2069]na\u2069. Read');
  });

  it('offers Sign and Decline, as forms that need no script', () => {
    const page = render(viewOf(open));
    expect(page).toContain('<form method="post" action="/tasks/token-of-the-link/sign">');
    expect(page).toContain(
      '<form method="post" action="/tasks/token-of-the-link/decline" novalidate>',
    );
    expect(page.match(/<script[^>]*>/g)).toEqual([
      expect.stringMatching(/^<script src="[^"]+" defer>$/),
    ]);
    expect(count(page, /class="primary"/g)).toBe(1);
  });

  it('offers no Sign when the phone was asked too often', () => {
    const page = render(viewOf({ kind: 'open', mayAsk: false }));
    expect(page).not.toContain('/sign"');
    expect(page).toContain('/decline"');
  });

  it('keeps a reason that is too long, and leads to it', () => {
    const page = render(
      viewOf(open, {}, { formError: { problem: 'tooLong', reason: 'too <long>' } }),
    );
    expect(page).toMatch(/role="alert"[\s\S]*<a href="#reason">/);
    expect(page).toContain('<details class="other" open>');
    expect(page).toMatch(
      /aria-describedby="reason-hint reason-error" aria-invalid="true">too &lt;long&gt;</,
    );
  });

  it('tells neither the text nor names after the end', () => {
    for (const how of ['signed', 'refused', 'withdrawn'] as const) {
      const page = render(viewOf({ kind: 'ended', how, at: now }));
      expect(page).not.toMatch(/4711|Anna|Beat|board|<form/);
    }
  });

  it('says of a link that leads to nothing no more than that', () => {
    const page = taskNotice(frameOf('en'), 'gone');
    expect(page).toContain('This link does not work');
    expect(page).not.toMatch(/Example Shop|<form|token/);
  });
});
