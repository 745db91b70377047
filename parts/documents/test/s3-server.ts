/** An S3 server on this machine (`s3rver`). It does not check signatures; s3.interop.test.ts does. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Server {
  run(): Promise<{ readonly port: number }>;
  close(): Promise<void>;
}

const S3rver = createRequire(import.meta.url)('s3rver') as new (
  options: Readonly<Record<string, unknown>>,
) => Server;

/** What this server knows. */
export const s3Keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  /** The folder in which it keeps objects. */
  readonly folder: string;
  close(): Promise<void>;
}

export const startS3Server = async (): Promise<S3Server> => {
  const folder = mkdtempSync(join(tmpdir(), 's3-'));
  const bucket = 'documents';
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    vhostBuckets: false,
    configureBuckets: [{ name: bucket }],
  });
  const { port } = await server.run();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    folder,
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
