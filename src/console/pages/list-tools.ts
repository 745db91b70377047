/**
 * What stands around every list: saved filters, the export, and the orders for what is selected or
 * what the filter shows.
 */
import { html } from 'hono/html';
import { bulkPathOf } from '../bulk-face.ts';
import type { ConsoleSession } from '../deps.ts';
import { maxExported } from '../export.ts';
import type { Written } from '../filter.ts';
import { count, csrfField, type Html, hiddenFields, nothing, queryOf } from './markup.ts';

/** The list that a page shows. */
export interface ListPage {
  /** `transactions`, also the last part of its address. */
  readonly list: string;
  readonly session: ConsoleSession;
  /** The filter as it is written. */
  readonly form: Written;
}

const pathOf = ({ list }: Pick<ListPage, 'list'>): string => `/admin/${list}`;

const filtersOf = ({ list, session: { view } }: ListPage) =>
  view.filters.filter((filter) => (filter.list ?? 'transactions') === list);

/** The filters that the person has saved for this list. */
export const savedFilters = (page: ListPage): Html => {
  const filters = filtersOf(page);
  return filters.length === 0
    ? nothing
    : html`<nav class="saved" aria-label="Saved filters"><ul>${filters.map(
        ({ name, query }) => html`<li><a href="${pathOf(page)}?${query}">${name}</a></li>`,
      )}</ul></nav>`;
};

/** The form that saves the filter, those that remove one, and the links of the export. */
export const filterTools = (page: ListPage): Html => {
  const { list, session, form } = page;
  const csrf = csrfField(session.csrf);
  const fields = html`${csrf}${hiddenFields({ ...form, list })}`;
  const keep = html`<form method="post" action="/admin/view">${fields}<div class="field"><label for="save">Save this filter as</label><input id="save" name="save" type="text" required maxlength="40" autocomplete="off"></div><button class="plain small">Save</button></form>`;
  const forget = filtersOf(page).map(
    ({ name }) =>
      html`<form method="post" action="/admin/view">${fields}<input type="hidden" name="forget" value="${name}"><button class="link">Remove “${name}”</button></form>`,
  );
  return html`${Object.keys(form).length === 0 ? html`<p class="quiet">Narrow the list, then you can save the filter here.</p>` : keep}${forget}
<p>Export what the filter finds, at most ${count(maxExported)} rows, the newest first: ${(
    ['csv', 'json'] as const
  ).map(
    (format) =>
      html`<a href="${pathOf(page)}/export${queryOf({ format, ...form })}" download>${format.toUpperCase()}</a> `,
  )}</p>`;
};

/** An order that the list offers. */
export interface ListOrder {
  readonly kind: string;
  /** `Replay` */
  readonly verb: string;
  /** After the verb, where the filter does not name the state: `what has failed of these`. */
  readonly of: string;
  /** Whether the filter shows all that the order is for, and not only a part. */
  readonly isOfAll: boolean;
}

/**
 * The buttons for bulks of the selected rows, and of all rows of the filter.
 *
 * @param state The field of the filter that the kind of an order decides.
 */
export const bulkOrders = (
  { list, form }: ListPage,
  state: string,
  orders: readonly ListOrder[],
): Html => {
  if (orders.length === 0) return nothing;
  const { [state]: wanted, ...others } = form;
  const path = `/admin${bulkPathOf(list)}/plan`;
  return html`<div><form id="picked" class="picked" method="get" action="${path}">${hiddenFields(form)}<input type="hidden" name="picked" value="1"><span class="quiet">Selected<span id="picked-count"></span>:</span>${orders.map(
    ({ kind, verb }) =>
      html`<button class="plain small" name="kind" value="${kind}">${verb} …</button>`,
  )}</form>${orders
    .filter(({ isOfAll }) => isOfAll)
    .map(
      ({ kind, verb, of }) =>
        html`<a href="${path}${queryOf({ ...others, ...(kind !== 'replay' && { kind }) })}">${verb} ${wanted === undefined ? of : 'what this filter shows'} …</a> `,
    )}</div>`;
};

/** The box that selects all rows. The script makes it visible. */
export const pickAll = [
  html`<label for="pick-all" class="unseen">Select all on this page</label><input id="pick-all" type="checkbox" hidden>`,
  'pick',
] as const;

/** The cell with the box that selects a row. */
export const pickCell = (id: string): Html =>
  html`<td role="cell" class="pick"><label for="pick-${id}" class="unseen">Select ${id}</label><input id="pick-${id}" type="checkbox" name="id" value="${id}" form="picked"></td>`;
