/**
 * Node 22 brings `Promise.withResolvers`, and Restate's SDK needs it. Import this file before the
 * SDK.
 */
interface Resolvers {
  readonly promise: Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

const promises: { withResolvers?: () => Resolvers } = Promise as object;

promises.withResolvers ??= () => {
  let settle: Omit<Resolvers, 'promise'> | undefined;
  const promise = new Promise<unknown>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // The executor of a promise runs at once.
  return { promise, ...(settle as unknown as Omit<Resolvers, 'promise'>) };
};
