/** What the service and its threads at the token tell each other. */
import type { JWK } from 'jose';
import type { KeyType, SigningAlgorithm } from '../../packages/pki/src/ports.ts';

export interface TokenPlace {
  /** Path of the token's PKCS#11 library. */
  readonly module: string;
  readonly tokenLabel?: string | undefined;
  /** Number of the slot, instead of a label. */
  readonly slot?: number | undefined;
}

/** `keyId` is CKA_ID in hex. */
export type TokenCall =
  /** @param fresh Whether no other thread uses the token: then open sessions are closed first. */
  | { readonly kind: 'open'; readonly pin: string; readonly fresh: boolean }
  | {
      readonly kind: 'make';
      readonly keyId: string;
      readonly label: string;
      readonly type: KeyType;
    }
  /** @param data What the algorithm's mechanism takes; see token-vault.ts. */
  | {
      readonly kind: 'sign';
      readonly keyId: string;
      readonly algorithm: SigningAlgorithm;
      readonly data: Uint8Array;
    }
  | { readonly kind: 'destroy'; readonly keyId: string }
  /** Is it still there? */
  | { readonly kind: 'probe' };

export interface AskedCall {
  readonly id: number;
  readonly call: TokenCall;
}

/** `make` gives a {@link JWK}, `sign` the signature. */
export type TokenValue = JWK | Uint8Array | undefined;

/**
 * result   PKCS#11 has answered with an error; `code` is CKR_….
 * no-key   The token has no such key.
 * no-token No token has the label, or the slot has none.
 * package  `pkcs11js` is not installed. library The library cannot be loaded.
 */
export interface TokenFailure {
  readonly kind: 'result' | 'no-key' | 'no-token' | 'package' | 'library';
  /** What the log says of the failure. */
  readonly says: string;
  readonly code?: number;
}

export type Answered = { readonly id: number } & (
  | { readonly value: TokenValue }
  | { readonly failure: TokenFailure }
);
