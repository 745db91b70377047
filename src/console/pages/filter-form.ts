/** The filter form above a list. */
import { html } from 'hono/html';
import { clockOf } from '../clock.ts';
import type { FilterForm, FormFields } from '../filter.ts';
import { time } from '../input.ts';
import { type Html, hiddenFields, nothing, options } from './markup.ts';

type Choices = Parameters<typeof options>[0];

/**
 * The controls of a filter form, with errors beside fields. @param times The reader's time zone.
 */
export const createFields = <Field extends string>(
  { form, problems }: FormFields<Field>,
  times = 'UTC',
) => {
  const clock = clockOf(times);
  const field = (
    name: Field,
    label: string,
    control: (attributes: Html, value: string) => Html,
  ): Html => {
    const problem = problems[name];
    const attributes = html`id="f-${name}" name="${name}"${
      problem === undefined ? '' : html` aria-invalid="true" aria-describedby="e-${name}"`
    }`;
    return html`<div class="field"><label for="f-${name}">${label}</label>${control(attributes, form[name] ?? '')}${
      problem === undefined ? '' : html`<p class="error" id="e-${name}">${problem}</p>`
    }</div>`;
  };
  const input = (more: Html) => (attributes: Html, value: string) =>
    html`<input ${attributes} autocomplete="off" spellcheck="false" value="${value}"${more}>`;
  return {
    /** The hidden field that names the zone of the times in the form. */
    zone: (): Html => hiddenFields(clock.zone === 'UTC' ? {} : { zone: clock.zone }),
    input: (name: Field, label: string, more = nothing): Html => field(name, label, input(more)),
    select: (name: Field, label: string, choices: Choices): Html =>
      field(name, label, (attributes, value) => {
        const known = choices.some(
          (choice) => value === (typeof choice === 'string' ? choice : choice[0]),
        );
        const all = known || value === '' ? choices : [...choices, value];
        return html`<select ${attributes}><option value="">Any</option>${options(all, value)}</select>`;
      }),
    /** A field for a time, in the reader's zone and the form of browsers. */
    time: (name: Field, label: string): Html =>
      field(name, `${label} (${clock.zone})`, (attributes, value) => {
        const { data } = time.safeParse(value);
        const shown = data === undefined ? value : clock.write(data).replace(' ', 'T');
        return input(html` type="datetime-local" step="any"`)(attributes, shown);
      }),
  };
};

export const listOf = (id: string, values: readonly string[]): Html =>
  html`<datalist id="${id}">${values.map((value) => html`<option value="${value}"></option>`)}</datalist>`;

/** @param more Fields that are rarely needed. */
export const filterForm = (
  {
    path,
    label,
    all = 'All',
  }: { readonly path: string; readonly label: string; readonly all?: string },
  form: FilterForm<string>,
  fields: Html,
  more = nothing,
): Html =>
  html`<form class="filter" method="get" action="${path}" role="search" aria-label="${label}"><div class="fields">
${fields}
<div class="actions"><button type="submit">Show</button>${Object.values(form).some(Boolean) ? html`<a href="${path}">${all}</a>` : nothing}</div></div>${more}</form>`;
