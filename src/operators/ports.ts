/** What this room needs of others and does not import. */

/**
 * cancelled  Nobody will be asked, or the prompt is taken back.
 * too-late   It had ended, or somebody has answered.
 * busy       A worker was at it all the time: ask again.
 * unknown    There is no such transaction.
 */
export type CancelResult = 'cancelled' | 'too-late' | 'busy' | 'unknown';

export type Cancel = (msspTransId: string) => Promise<CancelResult>;
