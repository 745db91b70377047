/** The step that all peers do, and the line that says that a service is ready. */
import { createSign, generateKeyPairSync } from 'node:crypto';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** ECDSA with P-256 and SHA-256 over the text, DER, in Base64. */
export const signText = (text: string): string =>
  createSign('sha256').update(text).sign(privateKey, 'base64');

/** Of a process, in order. */
export const signers = [1, 2, 3] as const;

/** The scenario waits for this line, and verifies with its key what the service signs. */
export const sayReady = (url: string): void => {
  const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  process.stdout.write(`${JSON.stringify({ ready: { url, publicKey: key } })}\n`);
};
