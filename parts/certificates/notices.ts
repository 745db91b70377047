import type { NoticeText } from '../../src/console/part.ts';

export const certificateNotices = {
  'certificate-revoked': ['good', 'Revoked', 'Lists and OCSP answers say so within minutes.'],
  'certificate-renewed': ['good', 'Allowed', 'The devices get new keys at their next use.'],
  'certificate-reassigned': ['good', 'Done', 'The number has a new person.'],
  'certificate-unknown': ['bad', 'Not done', 'There is no such certificate.'],
  'certificate-nothing': [
    'bad',
    'Not done',
    'None of its certificates can be revoked or renewed any more.',
  ],
} as const satisfies Record<string, NoticeText>;

export type CertificateNotice = keyof typeof certificateNotices;
