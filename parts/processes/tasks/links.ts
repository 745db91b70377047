/**
 * Links to the page of one signer. A link names the signer's address and its `linkVersion`, sealed
 * under a key of its own. So it can neither be guessed nor be read, and each REVOKE_LINK ends all
 * links that were made before. It lets nobody sign: only the signer's phone does.
 */
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isEqual } from '../../../packages/pki/src/is-equal.ts';
import { createSealedTexts, deriveKey } from '../../../packages/pki/src/sealed-json.ts';
import type { LinkTo } from '../../../src/part/rooms.ts';

const contentSchema = z.tuple([z.string(), z.int()]);

/** What a link says. */
export interface Link {
  /** The address of the signer; it belongs to one process and one step. */
  readonly instance: string;
  readonly version: number;
}

/** @param publicUrl Of this service: `https://sign.example.com`. */
export const linkTo = (publicUrl: string, token: string): string => `${publicUrl}/tasks/${token}`;

/** A longer one is none of ours: an address has some 200 characters. */
const maxTokenLength = 1000;

export const createTaskLinks = (serviceKey: Uint8Array) => {
  const key = deriveKey(serviceKey, 'paraph task links');
  const texts = createSealedTexts(key, 'task link', contentSchema, maxTokenLength);
  const mac = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');
  /** Proves that a form is of the page of this link. */
  const formToken = ({ instance, version }: Link): string => mac(`form ${version} ${instance}`);
  return {
    /** @returns Base64url; another one each time. */
    tokenFor: ({ instance, version }: Link): string => texts.write([instance, version]),
    /** @returns Undefined for what this service has not made. */
    read: (token: string): Link | undefined => {
      const content = texts.read(token);
      return content && { instance: content[0], version: content[1] };
    },
    formToken,
    isFormToken: (link: Link, token: string): boolean => isEqual(token, formToken(link)),
    /** A hash that stands for an address in names of limits. */
    hashOf: (text: string): string => mac(`limit ${text}`),
  };
};

export type TaskLinks = ReturnType<typeof createTaskLinks>;

/** @returns The address of a signer's page, for the application. */
export const createSignerLinks = (
  serviceKey: Uint8Array,
  publicUrl: () => string | undefined,
): LinkTo => {
  const links = createTaskLinks(serviceKey);
  return (signer, linkVersion) => {
    const url = publicUrl();
    return url && linkTo(url, links.tokenFor({ instance: signer, version: linkVersion }));
  };
};
