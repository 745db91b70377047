/** Wraps the log of a room, so that its calls are also counted. */

type Tell = (...told: readonly unknown[]) => void;

/** @returns The log, with an observer that is called before each of its methods. */
export const observed = <Log extends object>(inner: Log, observer: Partial<Log>): Log => {
  const methods: Record<string, Tell> = {};
  for (const [name, observe] of Object.entries(observer) as [string, Tell][]) {
    const tell: Tell | undefined = Reflect.get(inner as object, name);
    methods[name] = (...told) => {
      observe(...told);
      tell?.(...told);
    };
  }
  return { ...inner, ...methods };
};
