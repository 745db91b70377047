/**
 * The ids of instances of workflows: a public contract, because other programs add their jobs
 * (docs/queue-contract.md).
 */
import { hash } from 'node:crypto';

/** What an application may choose as the id of an instance. */
export const ownIdPattern = /^[A-Za-z0-9_-]{1,64}$/;

export const tenantLength = 12;

/** Stands for an application in ids: twelve characters of the base64url of SHA-256(AP_ID). */
export const tenantOf = (apId: string): string =>
  hash('sha256', apId, 'base64url').slice(0, tenantLength);

/** Separates name and own id: no name of a workflow has two dashes in a row, or ends with one. */
const separator = '--';

/**
 * The id of an instance. It holds the tenant, so an application cannot name an instance of another
 * one.
 *
 * @param id {@link ownIdPattern}
 */
export const instanceIdOf = (apId: string, name: string, id: string): string =>
  `${tenantOf(apId)}-${name}${separator}${id}`;

/** Whether this is an instance of the workflow, or a child of one. */
export const isInstanceOf = (instanceId: string, name: string): boolean =>
  instanceId.startsWith(`${name}${separator}`, tenantLength + 1);

/** The name of the workflow of an instance, or of the parent of a child. */
export const nameIn = (instanceId: string): string => {
  const begin = tenantLength + 1;
  const end = instanceId.indexOf(separator, begin);
  return end === -1 ? '' : instanceId.slice(begin, end);
};

/** Stands for the application of an instance, as far as its id is believed. */
export const tenantOfInstance = (instanceId: string): string => instanceId.slice(0, tenantLength);

/** The part of an id that the application has chosen. */
export const ownIdOf = (instanceId: string, name: string): string =>
  instanceId.slice(tenantLength + 1 + name.length + separator.length);

/** The part of an instance's id that the application has chosen, for any workflow. */
export const ownPartOf = (instanceId: string): string =>
  instanceId.slice(instanceId.indexOf(separator, tenantLength + 1) + separator.length);

/** The id of an instance without the tenant: for the application. */
export const withoutTenant = (instanceId: string): string => instanceId.slice(tenantLength + 1);
