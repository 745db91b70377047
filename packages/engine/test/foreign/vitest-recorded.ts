/** `vitest` as foreign tests get it that import it: with the `it` of runner.ts. */
export * from 'vitest';

import type { TestAPI } from 'vitest';

const { it: recorded } = globalThis as unknown as { readonly it: TestAPI };

export { recorded as it, recorded as test };
