/** The chart of any machine, in its whole depth: nested and parallel states. */
import { html } from 'hono/html';
import type { AnyStateMachine } from 'xstate';
import { type Html, nothing } from './markup.ts';
import { chartSvg, drawRegions, type Path, readRegions } from './statechart.ts';

/** The value of a state, as XState writes it: `open`, `{ "open": { … } }`. Others may have written it. */
const pathInValue = (value: unknown): Path => {
  const keys = typeof value === 'string' ? [value] : Object.keys(Object(value) as object);
  const part = (of: unknown, key: string): unknown => (Object(of) as Record<string, unknown>)[key];
  return {
    visited: new Set(keys),
    ways: new Map(),
    here: keys[0],
    inner: (state, title) =>
      pathInValue(title === undefined ? part(value, state) : part(part(value, state), title)),
  };
};

/** `steps.open`, `checking.score.asking, checking.know.asked`. */
export const valueText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const parts = Object.entries(Object(value) as object).map(([key, inner]) =>
    valueText(inner)
      .split(', ')
      .map((each) => (each === '' ? key : `${key}.${each}`))
      .join(', '),
  );
  return parts.join(', ');
};

/** A large chart is drawn smaller. */
const scale = 0.85;

/** Wider ones do not fit on a phone. */
const phoneWidth = 340;

/** Any machine, in its whole depth, with its current state marked. */
export const machineSvg = (machine: AnyStateMachine, value: unknown): Html => {
  const { type } = machine.root;
  const drawing = drawRegions(readRegions(machine.root), (title) =>
    pathInValue(
      type === 'parallel' && title !== undefined ? (Object(value) as Record<string, unknown>)[title] : value,
    ),
  );
  const hint =
    drawing.width * scale > phoneWidth
      ? html`<p class="quiet when-narrow">Scroll the chart sideways to see all of it.</p>`
      : nothing;
  return html`${hint}<div class="scroll" tabindex="0" role="region" aria-label="Statechart">${chartSvg(drawing, ' large', `Statechart. Now ${valueText(value)}.`, scale)}</div>`;
};
