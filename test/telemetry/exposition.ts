/** The text format of Prometheus, read back. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Exposition {
  /** Families by name, with their type. */
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** The one sample with these labels and maybe more. */
  valueOf(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

const readLabels = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );

export const readExposition = (text: string): Exposition => {
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    const type = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (type !== null) types.set(type[1] ?? '', type[2] ?? '');
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (sample !== null && !line.startsWith('#')) {
      samples.push({
        name: sample[1] ?? '',
        labels: readLabels(sample[2] ?? ''),
        value: Number(sample[3]),
      });
    }
  }
  return {
    types,
    samples,
    valueOf: (name, labels = {}) =>
      samples.find(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      )?.value,
  };
};
