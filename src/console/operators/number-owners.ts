/** What a part keeps for the owner of a number, and removes with a new owner. */
export interface Belonging {
  /** `Phones in browsers` */
  readonly label: string;
  /** `2` */
  readonly shown: string;
  /** Ends a sentence about what the owner loses: `2 phones in browsers removed`. */
  readonly lost: string;
  /** A sentence about what else ends. */
  readonly alsoLost: string;
}

/** What a part keeps for owners of numbers. Numbers are digits. */
export interface NumberOwners {
  belongingOf(msisdn: string): Promise<Belonging>;
  /** The number has a new owner. */
  forgetOwner(msisdn: string): Promise<void>;
}
