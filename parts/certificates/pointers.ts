import type { Pointers } from '../../packages/pki/src/extensions.ts';

/**
 * The addresses under which the service publishes (pki.route.ts), for the certificates that it
 * issues.
 *
 * @param url Without a slash at its end. Undefined: certificates name no address.
 */
export const pointersUnder =
  (url: string | undefined) =>
  (authority: string): Pointers | undefined =>
    url === undefined
      ? undefined
      : {
          crl: `${url}/pki/${authority}.crl`,
          ocsp: `${url}/pki/ocsp`,
          certificate: `${url}/pki/${authority}.cer`,
        };
