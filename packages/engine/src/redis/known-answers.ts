/**
 * Spares a worker the questions whose answers it has.
 *
 * BullMQ asks for a further job after each one that it has taken, and again when one goes to sleep:
 * two to three commands with two writes each for a job that comes alone. The script that hands out
 * a job says whether another one waits (bullmq-script.ts). If none does, the next question is
 * answered here, until a marker wakes the worker or its wait runs out: adding a job, or making one
 * due, sets a marker. A queue that is paused or full sets none, so there every question is asked.
 *
 * The script also gives all fields of the job, of which BullMQ keeps its own. Its inbox is among
 * the others, so that a turn that begins does not read it a second time.
 */
import type { BackendFactory, RedisQueueBackend } from 'bullmq';

/** The fields of a job as they were when it was taken, read in the same step as its lock. */
export interface JobFields {
  get(name: string): string | undefined;
}

/**
 * Places in the answer of a script that takes a job; of `due`, milliseconds by the clock of the
 * host.
 */
const [jobAt, idAt, dueAt, aloneAt] = [0, 1, 3, 4] as const;
const taking = ['moveToActive', 'moveToFinished'];

/**
 * @param flat Names and values in turns, as Redis gives them. Few are asked for, so they are looked
 * up.
 */
const fieldsOf = (flat: readonly string[]): JobFields => ({
  get: (name) => {
    for (let at = 0; at < flat.length; at += 2) if (flat[at] === name) return flat[at + 1];
    return undefined;
  },
});

/** What the backend of one worker knows. */
export class KnownAnswers {
  readonly factory: BackendFactory<RedisQueueBackend>;
  /** The answer that no job waits, with the time at which a sleeping job is due. */
  #empty: readonly unknown[] | undefined;
  /** Counts wakes: an answer to a question from before the last wake is out of date. */
  #wakes = 0;
  readonly #taken = new Map<string, JobFields>();

  /** @param make Makes the backend for which this answers. */
  constructor(make: BackendFactory<RedisQueueBackend>) {
    this.factory = (...given) => {
      const backend = make(...given);
      const execute = backend.execCommand.bind(backend);
      const wait = backend.waitForJob.bind(backend);
      backend.execCommand = async (client, command, values) => {
        if (!taking.includes(command)) return execute(client, command, values);
        if (command === 'moveToActive' && this.isEmpty()) return this.#empty;
        const wakes = this.#wakes;
        const answer: unknown = await execute(client, command, values);
        this.#learn(answer, wakes === this.#wakes);
        return answer;
      };
      backend.waitForJob = async (timeout) => {
        let due = 0;
        try {
          const marker = await wait(timeout);
          due = marker?.score ?? 0;
          return marker;
        } finally {
          // A marker with a time tells when a sleeping job is due. One without comes first.
          if (due > 0 && this.#empty !== undefined) this.#empty = [0, 0, 0, due];
          else if (due === 0) {
            this.#wakes += 1;
            this.#empty = undefined;
          }
        }
      };
      return backend;
    };
  }

  /** Whether no job waits, as far as is known. */
  isEmpty(): boolean {
    const due = Number(this.#empty?.[dueAt]);
    return due === 0 || due > Date.now();
  }

  /** Returns and forgets the fields of a job that was just taken. */
  takeFields(id: string): JobFields | undefined {
    const fields = this.#taken.get(id);
    this.#taken.delete(id);
    return fields;
  }

  #learn(answer: unknown, isNew: boolean): void {
    if (!Array.isArray(answer)) return;
    const job: unknown = answer[jobAt];
    if (Array.isArray(job)) {
      this.#taken.set(String(answer[idAt]), fieldsOf(job));
      this.#empty = isNew && answer[aloneAt] === 1 ? [0, 0, 0, 0] : undefined;
    } else if (isNew && answer[aloneAt] === 1) this.#empty = answer;
  }
}
