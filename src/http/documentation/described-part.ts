/** What a part says of its routes in the OpenAPI document. */
import type { z } from 'zod';
import type { OperationNode } from './nodes.ts';

export interface DescribedPart {
  readonly tag: {
    readonly name: string;
    /** The heading of the part in the reference. */
    readonly 'x-displayName': string;
    readonly description: string;
  };
  /** The operations of the part, by path and method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationNode>>>>;
  /** The schemas of the part. Those with a name become components. */
  readonly schemas: readonly z.ZodType[];
}
