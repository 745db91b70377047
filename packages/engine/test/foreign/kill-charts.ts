/**
 * The charts that kills.ts runs, as a process of their own loads them: files that it has compiled,
 * and this project's own. `KILL_CHARTS` is the list of the files.
 */
import { readFileSync } from 'node:fs';
import type { AnyEventObject, AnyStateMachine } from 'xstate';
import { activityFor } from '../../src/activities.ts';
import { defineWorkflow, type Workflow } from '../../src/define.ts';
import type { Bring } from '../crash-worker.ts';
import { plain } from '../same-as-xstate.ts';

interface Collected {
  record(): unknown;
  chartsNotRun(): readonly AnyStateMachine[];
  takeStarted(): readonly {
    readonly machine: AnyStateMachine;
    readonly input: unknown;
    readonly sent: readonly AnyEventObject[];
  }[];
  noteActions(note: (what: unknown, args: never) => unknown): void;
  noteAnswers(note: (instance: string, answer: unknown) => Promise<void>): void;
  readonly place: { run<T>(place: { readonly instance: string }, run: () => T): T };
}

export interface KillChart {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly input: unknown;
  /** Each is sent as soon as the chart can take it. */
  readonly events: readonly AnyEventObject[];
}

interface ListedFile {
  readonly name: string;
  readonly path: string;
  readonly events?: readonly AnyEventObject[];
}

const { xstate, files } = JSON.parse(readFileSync(process.env.KILL_CHARTS ?? '', 'utf8')) as {
  readonly xstate: string;
  readonly files: readonly ListedFile[];
};
export const collected = (await import(xstate)) as Collected;

/** Long enough for what a file sends after its pauses, which take a hundredth of their time. */
const loadMs = 500;

const loadOne = async ({ name, path, events }: ListedFile): Promise<readonly KillChart[]> => {
  collected.record();
  let given: { readonly killed?: Readonly<Record<string, Omit<KillChart, 'name'>>> } | undefined;
  const loading = import(path).then(
    (loaded) => {
      given = loaded;
    },
    () => undefined,
  );
  await Promise.race([loading, new Promise((resolve) => setTimeout(resolve, loadMs))]);
  if (given?.killed !== undefined)
    return Object.entries(given.killed).map(([each, chart]) => ({ name: each, ...chart }));
  const [root] = collected.takeStarted().toReversed();
  const machine = root?.machine ?? collected.chartsNotRun().at(-1);
  return machine === undefined
    ? []
    : [{ name, machine, input: root?.input, events: events ?? root?.sent ?? [] }];
};

/** One after the other: each is known by what it starts. */
export const loadCharts = async (): Promise<readonly KillChart[]> => {
  const charts: KillChart[] = [];
  for (const file of files) charts.push(...(await loadOne(file)));
  return charts;
};

/** @returns Undefined for a chart that the engine refuses. */
export const workflowFor = ({ name, machine }: KillChart): Workflow | undefined => {
  try {
    return defineWorkflow({ name, version: 1, chart: machine }) as Workflow;
  } catch {
    return undefined;
  }
};

/** Tells of an effect. Its id comes first, so that a repeated one is recognised. */
export const bring: Bring = async (tell) => {
  const charts = await loadCharts();
  collected.noteActions(
    (what, { instance, effect }: { instance?: { id: string }; effect?: { id: string } }) =>
      instance && tell(`effects:${instance.id}`, JSON.stringify([effect?.id, plain(what)])),
  );
  collected.noteAnswers((instance, answer) =>
    tell(`answers:${instance}`, JSON.stringify(plain(answer))),
  );
  return {
    workflows: charts.map(workflowFor).filter((each) => each !== undefined),
    watch: {
      activityFor: (logic) => {
        const activity = activityFor(logic);
        const run: typeof activity.run = (given) =>
          collected.place.run({ instance: given.instance.id }, () => activity.run(given));
        return { ...activity, run };
      },
      effect: () => undefined,
    },
  };
};
