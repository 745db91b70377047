/**
 * What a benchmark scenario is given and what it hands back. The runner prints, writes and draws; a
 * scenario measures.
 */
import type { BenchRedis, BenchRedisOptions } from './redis.ts';

/** One comparison, always within one run: the value, and the least and most of its rounds. */
export interface Ratio {
  /** Key in `ratios` of the results, camelCase: `accept`, `signRsa`. */
  readonly name: string;
  readonly value: number;
  readonly least: number;
  readonly most: number;
  /** Both sides in words: `asynch signs per second over HTTP / …`. */
  readonly divides: string;
  readonly goal?: { readonly atLeast: number } | { readonly atMost: number };
}

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

export interface Plot {
  /** Without folder and suffix: `growth-rates`. */
  readonly file: string;
  readonly title: string;
  readonly kind: 'bars' | 'lines';
  readonly xLabel: string;
  readonly yLabel: string;
  readonly logarithmicX?: boolean;
  /** Points of one colour. For bars `x` is the name of a group. */
  readonly series: readonly {
    readonly label: string;
    readonly points: readonly { readonly x: string | number; readonly y: number }[];
  }[];
}

export interface ScenarioResult {
  readonly ratios: readonly Ratio[];
  readonly tables: readonly Table[];
  readonly plots: readonly Plot[];
}

export interface BenchContext {
  /** The two-minute run: fewer and shorter rounds, smaller sizes. */
  readonly small: boolean;
  /** One line of progress, to stderr. */
  readonly say: (line: string) => void;
  /** A private Redis; the runner stops it when the scenario ends. */
  readonly redis: (options?: BenchRedisOptions) => Promise<BenchRedis>;
  /** Runs when the scenario ends, last registered first: the place for every process it starts. */
  readonly atEnd: (stop: () => Promise<void> | void) => void;
}

export interface Scenario {
  /** What `--only` takes. */
  readonly name: string;
  readonly title: string;
  readonly run: (context: BenchContext) => Promise<ScenarioResult>;
}

/** Stops what was started when the scenario ends. */
export const own = async <T extends { stop(): Promise<void> | void }>(
  { atEnd }: Pick<BenchContext, 'atEnd'>,
  starting: Promise<T>,
): Promise<T> => {
  const started = await starting;
  atEnd(started.stop);
  return started;
};
