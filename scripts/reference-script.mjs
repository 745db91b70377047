/**
 * Takes Scalar's script out of the package of its Fastify plugin, which serves it. The package
 * `@scalar/api-reference` itself would bring hundreds of packages, some with scripts that run at
 * their installation.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import plugin from '@scalar/fastify-api-reference';

/** @returns {string} What the plugin answers at the address of its script. */
function readScript() {
  const routes = [];
  const server = { route: (route) => routes.push(route), initialConfig: {} };
  plugin(server, { configuration: { url: '/openapi.json' } }, () => {});
  const reply = { header: () => reply, send: (content) => content };
  const text = routes.find(({ url }) => url.endsWith('.js'))?.handler(undefined, reply);
  if (typeof text !== 'string' || !text.includes('createApiReference'))
    throw new Error('@scalar/fastify-api-reference serves no script any more');
  return text;
}

/**
 * Gives each style element that the script makes the nonce of the page. Scalar does that itself for
 * its main style sheet only.
 */
const noncePrefix = `{
  const nonce = document.querySelector('meta[property=csp-nonce]')?.content ?? '';
  const create = document.createElement;
  document.createElement = function (name, options) {
    const element = create.call(this, name, options);
    if (String(name).toLowerCase() === 'style') element.nonce = nonce;
    return element;
  };
}
`;

/** Has to be in each copy of the script. */
function licence() {
  const plugin = import.meta.resolve('@scalar/fastify-api-reference');
  return `/*!\n${readFileSync(new URL('../LICENSE', plugin), 'utf8').trim()}\n*/\n`;
}

export function writeReferenceScript(/** @type {string} */ file) {
  // A map of the sources is not served.
  const script = readScript().replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, gzipSync(licence() + noncePrefix + script, { level: 9 }));
}
