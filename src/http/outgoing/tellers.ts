/**
 * What tells applications how their workflows go on. A part brings it (`openTellers` in
 * src/part/part.ts); without such a part, applications are not told.
 */
import type { PostResult } from './post.ts';

/** One who has refused. `reason` is in the person's own words. */
export interface Refusal {
  readonly key: string;
  readonly name: string;
  readonly reason?: string | undefined;
}

/**
 * What has happened in an instance. No number and no text: the receiver asks for the instance.
 * Without `workflow` it is a signature process.
 */
export interface WorkflowMessage {
  readonly apId: string;
  /** The name of the application's own chart; undefined for a signature process. */
  readonly workflow?: string | undefined;
  /** `told`: the definition of the process names the address that hears of its failure. */
  readonly what:
    | ('invited' | 'reminded' | 'unreached' | 'undelivered' | 'escalated')
    | ('step' | 'revoked' | 'end' | 'told');
  readonly title?: string | undefined;
  readonly step?: string | undefined;
  /** The key of the signer in the step; `name` is the name of that person. */
  readonly key?: string | undefined;
  readonly name?: string | undefined;
  /** The signer to whose page the message links. The link is made when the message is sent. */
  readonly signer?: { readonly instance: string; readonly linkVersion: number } | undefined;
  /** The state of the step, or of the instance. */
  readonly state?: string | undefined;
  readonly reason?: string | undefined;
  /** Who has refused in the step, with what they have typed for the application. */
  readonly refusals?: readonly Refusal[] | undefined;
  readonly code?: number | undefined;
  /** The address of the receiver. Default: that of the application's callbacks. */
  readonly url?: string | undefined;
}

/** Posts a chart's message to its application. Never rejects because of the receiver. */
export type CallWebhook = (
  call: {
    readonly apId: string;
    /** The id of the message, the same at each try. */
    readonly id: string;
    /** The address of the receiver; undefined is that of the application's callbacks. */
    readonly url: string | undefined;
    /** JSON. */
    readonly body: string;
  },
  stop: AbortSignal,
) => Promise<PostResult>;

export interface Tellers {
  /**
   * Sends a message, at least once. Does nothing for an application that has no callback, unless
   * the message has an address.
   *
   * @param from.id Names what has happened: told again under it, it is the same message.
   * @param from.instance The id of the instance (jobs/instance-ids.ts).
   */
  tell(
    message: WorkflowMessage,
    from: { readonly id: string; readonly instance: string },
  ): Promise<void>;
  readonly callWebhook: CallWebhook;
}

export const silence: Tellers = {
  tell: async () => undefined,
  callWebhook: async () => ({
    kind: 'refused',
    why: 'this service has no part that calls webhooks',
  }),
};
