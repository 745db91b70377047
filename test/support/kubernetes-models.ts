/**
 * Manifests against the schemas of Kubernetes, KEDA, the Prometheus operator and the Gateway API, from
 * the npm registry. The compiler finds names that the types do not know, which the schemas let through.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile, run } from './command.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

export const modelPackages = [
  'kubernetes-models@5.1.0',
  '@kubernetes-models/keda@2.0.0',
  '@kubernetes-models/gateway-api@2.0.0',
  '@kubernetes-models/prometheus-operator@6.0.0',
] as const;
const libraries: Readonly<Record<string, string>> = {
  'keda.sh': '@kubernetes-models/keda/',
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api/',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/',
};

const errorsOf = (say: () => string): string => {
  try {
    return say();
  } catch (error) {
    return String(error);
  }
};

/**
 * @param folder Where the packages are installed.
 * @returns What the compiler says, and then each schema; both empty when all is well.
 */
export const checkModels = (folder: string, given: readonly Manifest[]): readonly string[] => {
  const options = { module: 'nodenext', target: 'es2023', strict: true, skipLibCheck: true };
  const typeRoots = [join(import.meta.dirname, '../../node_modules/@types')];
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { ...options, types: ['node'], typeRoots },
      files: ['check.ts'],
    }),
  );
  const lines = given.map(({ apiVersion, kind, ...manifest }, at) => {
    const library = libraries[apiVersion.split('/')[0] ?? ''] ?? 'kubernetes-models/';
    return `import { ${kind} as Kind${at} } from '${library}${apiVersion}/${kind}';
try { new Kind${at}(${JSON.stringify(manifest)}).validate(); }
catch (error) { console.log('${kind}:', (error as Error).message); }`;
  });
  writeFileSync(join(folder, 'check.ts'), lines.join('\n'));
  return [
    errorsOf(() => compile(folder, '.')),
    errorsOf(() => run(folder, [process.execPath, 'check.js'])),
  ];
};
