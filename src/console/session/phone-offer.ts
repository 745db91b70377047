/** Whether the login with the phone can let anybody in, and where it begins. */
import type { ConsoleDeps } from '../deps.ts';
import { nextQuery } from './next-path.ts';

export const phoneLoginPath = '/admin/login/oidc';

/**
 * It needs somebody who is known by a phone: without one it would only be a page from which strangers have phones ring. In a
 * sandbox it can be tried out.
 */
export const offersPhone = async ({
  phoneLogin,
  operators,
  sandbox,
}: Pick<ConsoleDeps, 'phoneLogin' | 'operators' | 'sandbox'>): Promise<boolean> =>
  phoneLogin !== undefined &&
  (sandbox || (await operators.users.list()).some(({ oidcSubject }) => oidcSubject !== undefined));

/** At the public address, where the provider sends people back to and the cookie of the login must therefore be. */
export const phoneLoginAddress = (publicUrl: string, next: string): string =>
  `${publicUrl}${phoneLoginPath}${nextQuery(next)}`;
