/** The route of a request, as metrics and traces name it. */
import { createLabel, other } from '../telemetry/labels.ts';

const exact = [
  '/livez',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/configuration.schema.json',
  '/docs',
  '/pki/root.pem',
  '/rest/service',
  '/rest/service/sign',
  '/rest/service/status',
  '/rest/service/receipt',
  '/rest/service/profile',
];

/** The endpoints below `/oidc` and `/oidc/t/<tenant>`. */
const oidcEndpoints = [
  'par',
  'auth',
  'token',
  'userinfo',
  'jwks.json',
  'session',
  'interaction',
  'assets',
  '.well-known',
];

const ownAreas = ['admin', 'docs'];
const exactly = createLabel(exact);

/** The route pattern of a path: one of a fixed set. */
export type RouteOf = (path: string) => string;

/**
 * @param more First segments of paths, beside those of the core.
 * @param moreOfOidc Paths of endpoints of the OpenID provider, beside those of the core.
 */
export const createRouteOf = (
  more: readonly string[],
  moreOfOidc: readonly string[] = [],
): RouteOf => {
  const endpointOf = createLabel([
    ...oidcEndpoints,
    ...moreOfOidc.flatMap((path) => path.split('/', 2).slice(1)),
  ]);
  const areas = createLabel([...ownAreas, ...more]);
  return (path) => {
    const route = exactly(path);
    if (route !== other) return route;
    const [, area, ...rest] = path.split('/', 6);
    if (area === 'oidc') {
      const endpoint = endpointOf(rest[0] === 't' ? rest[2] : rest[0]);
      return endpoint === other ? '/oidc/*' : `/oidc/${endpoint}`;
    }
    const named = areas(area);
    return named === other ? other : `/${named}/*`;
  };
};
