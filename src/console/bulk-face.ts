/**
 * What a list adds to the pages and the API of bulks (bulks.route.ts, pages/plan-pages.ts): its filter,
 * its words, and what its plan shows. A part brings it as `bulk` of its member for the console.
 */
import type { z } from 'zod';
import type { AnyFields } from '../transactions/history/fields.ts';
import type { Written } from './filter.ts';
import type { BulkList, BulkPlan, BulkSelection } from './operators/bulk-list.ts';
import type { ItemResult } from './operators/bulk-report.ts';
import type { Role } from './operators/operator.ts';
import type { Html, Tile } from './pages/markup.ts';

/** The texts of one kind of order. */
export interface BulkWords {
  /** `Plan a replay` */
  readonly title: string;
  /** `Nothing is cancelled yet. This is what a cancel of` */
  readonly intro: string;
  /** `open transactions` */
  readonly of: string;
  /** `cancelled`, after `Would be`. */
  readonly done: string;
  /** `Open, found` */
  readonly found: string;
  readonly verb: string;
  /** `Cancel of`, before the number of items. */
  readonly heading: string;
  readonly rate: string;
  /** `What it would cancel` */
  readonly list: string;
  readonly button: string;
  readonly isDanger?: boolean;
  /** On the page of the bulk, beside the button that stops it. */
  readonly stops: string;
  /** What became of an item, in words. */
  readonly results: Readonly<Record<ItemResult, string>>;
  /** The counts of the bulk; others are shown only where they are not 0. */
  readonly counts: Readonly<Partial<Record<ItemResult, string>>>;
}

/** What an order needs beside its filter and its reason, such as the event to send. */
export interface BulkMore {
  /** Its fields on a page, filled in. */
  form(written: Written, isWrong: boolean): Html;
  /** @returns `missing` before the form is filled in. */
  read(written: Written): Pick<BulkSelection<unknown>, 'event'> | 'missing' | 'wrong';
  /** What it is, in a plan. */
  fact(written: Written): readonly [name: string, value: string];
  /** What is read from the form, for hidden fields. */
  fields(written: Written): Readonly<Record<string, string | undefined>>;
}

/** Its methods get the plans of its own list. */
export interface BulkFace {
  readonly list: BulkList<BulkSelection<unknown>, BulkPlan>;
  /** The nouns of its items. */
  readonly what: readonly [one: string, many: string];
  /** Its fields without the state, which the kind decides. */
  readonly fields: AnyFields;
  /** The same for programs; it may have more members. */
  readonly filter: z.ZodType<Readonly<Record<string, unknown>>>;
  readonly words: Readonly<Record<string, BulkWords>>;
  /** Why an order of this kind leaves an item out, by the reason. */
  refusals(kind: string): Readonly<Record<string, string>>;
  /** The filter of the list that shows what an order of this kind is for. */
  stateOf(kind: string): Readonly<Record<string, string>>;
  more?(kind: string): BulkMore | undefined;
  /** The plan without what this role may not see. */
  shown(role: Role, plan: BulkPlan): BulkPlan;
  tiles(plan: BulkPlan, kind: string): readonly Tile[];
  /** A sentence before the fields of the order. */
  note(plan: BulkPlan, kind: string): string | Html;
  rateHint(plan: BulkPlan, kind: string, perSecond: string): string | Html;
  /** Tables of counts. */
  panels(
    plan: BulkPlan,
    kind: string,
  ): readonly (readonly [caption: string, rows: readonly (readonly [string, number])[]])[];
  /** How items are now, where the bulk does not wait for their ends; undefined for one that is gone. */
  now?(ids: readonly string[]): Promise<readonly (Html | undefined)[]>;
  /** The first items of the plan. */
  table(plan: BulkPlan, kind: string, caption: string): Html;
}

export const pageOf = ({ list }: Pick<BulkFace, 'list'>): string => `/admin/${list.name}`;

/** The pages and operations of plan and order: below `/admin` and `/admin/api`. */
export const bulkPathOf = (list: string): string =>
  list === 'transactions' ? '/replays' : `/replays/${list}`;

/** The section of the navigation that the pages of a list's bulks belong to. */
export const sectionOf = (list: string): string => (list === 'transactions' ? 'replays' : list);
