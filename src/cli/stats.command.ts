/** `paraph stats`: how it went in the last hours, and what waits now. */
import type { Command } from 'commander';
import type { Overview } from '../history/overview.ts';
import type { CliContext, Report } from './context.ts';
import { parseCount } from './operations-filter.ts';
import { duration, iso } from './operations-row.ts';
import { needsIndex, withOperations } from './operations-session.ts';
import { type Field, formatFields, isCapable, paletteFor, widthOf } from './screen.ts';

const hourMs = 3_600_000;
const mostHours = 25;
const levels = '▁▂▃▄▅▆▇█';

/** One character for each part of the time. */
const sparkline = (counts: readonly number[]): string => {
  const most = Math.max(...counts, 1);
  return counts.map((count) => levels.charAt(Math.ceil((count / most) * (levels.length - 1)))).join('');
};

/** Of those that have ended; null when none has. */
const successRatio = ({ signed, failed }: Overview): number | null =>
  signed + failed === 0 ? null : Math.round((signed / (signed + failed)) * 10_000) / 10_000;

const perMinute = ({ submitted, since }: Overview, now: number): number =>
  Math.round((submitted / Math.max((now - since) / 60_000, 1)) * 100) / 100;

const stats = (context: CliContext, { hours }: { readonly hours: number }): Promise<Report> =>
  withOperations(context, async (session) => {
    needsIndex(session);
    const now = context.now();
    const overview = await session.history.overview(now - hours * hourMs);
    const { since, submitted, signed, failed, faults, timeToSignMs: took, queue, series } = overview;
    const ratio = successRatio(overview);
    const rate = perMinute(overview, now);
    const fields: readonly Field[] = [
      ['since', iso(since)],
      ['submitted', `${submitted} (${rate} a minute)`],
      ['', isCapable(context.stdout, context) ? sparkline(series.map((part) => part.submitted)) : undefined],
      ['signed', String(signed)],
      ['failed', String(failed)],
      ['success', ratio === null ? 'nothing has ended' : `${(ratio * 100).toFixed(1)} %`],
      ...faults.map(
        ({ code, reason, count }, index): Field => [
          index === 0 ? 'faults' : '',
          `${code} ${reason ?? ''} ${count}`,
        ],
      ),
      [
        'time to sign',
        took && `p50 ${duration(took.p50)}, p90 ${duration(took.p90)}, p99 ${duration(took.p99)}`,
      ],
      ['waiting', String(queue.waiting)],
      ['in work', String(queue.active)],
      ['asleep', `${queue.delayed} (until somebody answers, or their time comes)`],
    ];
    return {
      outcome: 'ok',
      document: {
        hours,
        since: iso(since),
        submitted,
        signed,
        failed,
        perMinute: rate,
        successRatio: ratio,
        faults,
        timeToSignMs: took ?? null,
        queue,
        series: series.map((part) => ({ ...part, at: iso(part.at) })),
      },
      text: formatFields(fields, widthOf(context.stdout), paletteFor(context.stdout, context)),
    };
  });

export const addStats = (program: Command, context: CliContext, done: (report: Report) => void): void => {
  program
    .command('stats')
    .description('show rate, success, faults and times of the last hours, and the queue')
    .option('--hours <n>', `1 to ${mostHours}`, parseCount('--hours', 1, mostHours), 1)
    .option('--json', 'print one JSON document')
    .action(async (flags: { readonly hours: number }) => done(await stats(context, flags)));
};
