/**
 * `paraph stats`: rates and times of the last hours, and the queue now. `paraph refusals`: requests
 * that never became a transaction.
 */
import { addAdminAction } from '../command-line/admin.ts';
import { type AddCommand, type CliContext, ok, type Report } from '../command-line/context.ts';
import { type Field, fieldsText, isCapable, listFields, table } from '../command-line/screen.ts';
import { parseCount } from '../command-line/transactions-filter.ts';
import { duration, iso } from '../command-line/transactions-row.ts';
import type { Overview } from '../transactions/history/overview.ts';
import type { Refusals } from '../transactions/history/refusals.ts';

const maxHours = 720;
const levels = '▁▂▃▄▅▆▇█';

/** One character for each part of the time. */
const sparkline = (counts: readonly number[]): string => {
  const max = Math.max(...counts, 1);
  return counts
    .map((count) => levels.charAt(Math.ceil((count / max) * (levels.length - 1))))
    .join('');
};

/** The share of ended transactions that were signed, from 0 to 1; null when none has ended. */
const computeSuccess = ({ signed, failed }: Overview): number | null =>
  signed + failed === 0 ? null : Math.round((signed / (signed + failed)) * 10_000) / 10_000;

const computePerMinute = ({ submitted, since }: Overview, now: number): number =>
  Math.round((submitted / Math.max((now - since) / 60_000, 1)) * 100) / 100;

const reportStats = (context: CliContext, hours: number, overview: Overview): Report => {
  const { since, submitted, signed, failed, faults, timeToSignMs: took, queue, series } = overview;
  const ratio = computeSuccess(overview);
  const rate = computePerMinute(overview, context.now());
  const times =
    took && `p50 ${duration(took.p50)}, p90 ${duration(took.p90)}, p99 ${duration(took.p99)}`;
  const fields: readonly Field[] = [
    ['since', iso(since)],
    ['submitted', `${submitted} (${rate} a minute)`],
    [
      '',
      isCapable(context.stdout, context)
        ? sparkline(series.map((part) => part.submitted))
        : undefined,
    ],
    ['signed', String(signed)],
    ['failed', String(failed)],
    ['success', ratio === null ? 'nothing has ended' : `${(ratio * 100).toFixed(1)} %`],
    ...listFields(
      'faults',
      faults.map(({ code, reason, count }) => `${code} ${reason ?? ''} ${count}`),
    ),
    ['time to sign', times],
    ['waiting', String(queue.waiting)],
    ['in work', String(queue.active)],
    ['asleep', `${queue.delayed} (until the user answers or the time is up)`],
    ...context.parts.flatMap(({ commands }) => commands?.stats?.(overview) ?? []),
  ];
  const document = {
    hours,
    ...overview,
    since: iso(since),
    perMinute: rate,
    successRatio: ratio,
    timeToSignMs: took ?? null,
    series: series.map((part) => ({ ...part, at: iso(part.at) })),
  };
  return ok(document, fieldsText(fields, context));
};

export const addStats: AddCommand = (program, context, done) => {
  const command = program
    .command('stats')
    .description('show rate, success, faults and times of the last hours, and the queue')
    .option('--hours <n>', `1 to ${maxHours}`, parseCount('--hours', 1, maxHours), 1);
  addAdminAction(command, context, done, async (admin, { hours }: { readonly hours: number }) => {
    admin.needsIndex();
    return reportStats(context, hours, await admin.get<Overview>(['overview'], { hours }));
  });
};

export const addRefusals: AddCommand = (program, context, done) => {
  const command = program
    .command('refusals')
    .description(
      'count requests that were refused and never became a transaction, by application and reason',
    )
    .option('--ap <id>', 'of this application');
  addAdminAction(command, context, done, async (admin, { ap }: { readonly ap?: string }) => {
    const { counts, latest } = await admin.get<Refusals>(['refusals'], { apId: ap });
    const text = table(
      [
        { title: 'APPLICATION', cell: ({ apId = 'not named' }) => apId },
        { title: 'FAULT', cell: ({ fault, reason = '' }) => `${fault} ${reason}` },
        { title: 'HOUR', cell: ({ lastHour }) => String(lastHour), right: true },
        { title: 'DAY', cell: ({ lastDay }) => String(lastDay), right: true },
        { title: 'DETAIL', cell: ({ detail }) => detail },
      ],
      counts,
      context,
    );
    return ok(
      { counts, latest: latest.map((each) => ({ ...each, at: iso(each.at) })) },
      counts.length === 0 ? 'No request was refused in the last day.\n' : text,
    );
  });
};
