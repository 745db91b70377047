/** The filter form above a list. */
import { html } from 'hono/html';
import { type AnyFields, type Choice, time } from '../../transactions/history/fields.ts';
import { clockOf } from '../clock.ts';
import type { ConsoleSession } from '../deps.ts';
import type { FilterForm, FormFields } from '../filter.ts';
import { seesPeople } from '../redaction.ts';
import { type Html, hiddenFields, nothing, options } from './markup.ts';

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
    select: (name: Field, label: string, choices: readonly Choice[]): Html =>
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

/** What a page knows about the values of fields. */
interface FieldValues {
  /** Values that are suggested for a field, and may be written over. */
  readonly suggested?: Readonly<Partial<Record<string, readonly string[]>>>;
  /** Values that a field is chosen from, where its table does not say them. */
  readonly choices?: Readonly<Partial<Record<string, readonly Choice[]>>>;
}

const control = (
  name: string,
  { kind, label, choices: known }: AnyFields[string],
  { input, select, time }: ReturnType<typeof createFields<string>>,
  { suggested = {}, choices = {} }: FieldValues,
): Html => {
  const values = known ?? choices[name];
  if (values !== undefined) return select(name, label, values);
  if (kind === 'time') return time(name, label);
  if (kind === 'count') return input(name, label, html` type="number" min="1"`);
  const list = suggested[name];
  const keypad = kind === 'number' ? html` inputmode="tel"` : nothing;
  return list === undefined
    ? input(name, label, keypad)
    : html`${input(name, label, html`${keypad} list="l-${name}"`)}${listOf(`l-${name}`, list)}`;
};

/**
 * The form above a list, from the table of its fields. A field that the role may not use is left
 * out, unless it is filled in.
 *
 * @param page Where the form leads, and its name for screen readers.
 */
export const filterFormOf = (
  page: { readonly path: string; readonly label: string },
  fields: AnyFields,
  read: FormFields<string>,
  { operator, view }: Pick<ConsoleSession, 'operator' | 'view'>,
  values: FieldValues = {},
): Html => {
  const controls = createFields(read, view.times);
  const shown = Object.entries(fields).filter(
    ([name, { ofPeople }]) =>
      !ofPeople || seesPeople(operator.role) || read.form[name] !== undefined,
  );
  const write = (some: typeof shown): Html =>
    html`${some.map(([name, field]) => control(name, field, controls, values))}`;
  const rare = shown.filter(([, { more }]) => more !== undefined);
  const isUsed = rare.some(([name]) => read.form[name] !== undefined);
  const line = [...new Set(rare.map(([, { more = '' }]) => more))].join(', ');
  return filterForm(
    page,
    read.form,
    write(shown.filter(([, { more }]) => more === undefined)),
    html`<details id="more"${isUsed ? html` open` : ''}><summary>${line.charAt(0).toUpperCase()}${line.slice(1)}</summary><div class="fields">
${controls.zone()}${write(rare)}</div></details>`,
  );
};
