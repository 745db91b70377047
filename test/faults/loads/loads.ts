/**
 * The kinds of load beside clients and processes, each begun and looked at again in the same way.
 */
import type { Evidence } from '../evidence.ts';
import type { Stage } from '../stage.ts';
import { lookAtBulks, runBulks } from './bulks.ts';
import { lookAtDocuments, runDocuments } from './documents.ts';
import { runLogins } from './logins.ts';
import { lookAtMails, runMails } from './mails.ts';
import { type ChartRun, lookAtCharts, runCharts } from './own-charts.ts';
import type { Scene } from './scene.ts';

export const loadNames = ['bulks', 'mails', 'logins', 'charts', 'documents'] as const;
export type LoadName = (typeof loadNames)[number];

/** Mails and bulks take long, so the last ones begin before the other load ends. */
const beforeEndMs: Readonly<Record<LoadName, number>> = {
  bulks: 20_000,
  mails: 25_000,
  logins: 8000,
  charts: 10_000,
  documents: 20_000,
};

/** @returns Resolves when all of it is over. `look` is for when the service is well. */
export const runLoads = async (
  stage: Stage,
  scene: Scene & { readonly names: readonly LoadName[]; readonly token: string },
): Promise<{
  readonly charts: readonly ChartRun[];
  readonly look: () => Promise<Evidence['loads']>;
}> => {
  const { names, urls } = scene;
  const [url = ''] = urls;
  const run = <T>(
    name: LoadName,
    begin: (own: Scene) => Promise<readonly T[]>,
  ): Promise<readonly T[]> =>
    names.includes(name)
      ? begin({
          ...scene,
          random: scene.random.branch(name),
          until: scene.until - beforeEndMs[name],
        })
      : Promise.resolve([]);
  const { mailBox: box, gateway } = stage;
  const [bulks, mails, logins, charts, documents] = await Promise.all([
    run('bulks', (own) => runBulks({ ...own, token: scene.token })),
    run('mails', (own) => runMails({ ...own, box })),
    run('logins', runLogins),
    run('charts', (own) => runCharts({ ...own, marksUrl: gateway.marksUrl })),
    run('documents', runDocuments),
  ]);
  return {
    charts,
    look: async () => {
      await lookAtBulks(bulks, scene);
      await lookAtMails(mails, url);
      await lookAtDocuments(documents, url);
      await lookAtCharts(
        charts.filter(({ acknowledgedAt }) => acknowledgedAt !== undefined),
        url,
      );
      return {
        bulks,
        mails: { runs: mails, mails: box.mails, refused: box.refused },
        logins,
        documents,
        charts: { runs: charts, marks: gateway.marks, ends: gateway.ends },
      };
    },
  };
};
