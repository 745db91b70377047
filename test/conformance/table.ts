/**
 * The conformance table: each rule of the signature interface, and the tests that hold it. The interface's second area,
 * the OpenID provider (its sections 2.6, 4.5, 5.2 to 5.6 and 7.5), has no rows yet.
 */
import type { Row } from './row.ts';
import { applicationProvidersRows } from './rows/application-providers.ts';
import { faultsRows } from './rows/faults.ts';
import { profileRows } from './rows/profile.ts';
import { receiptRows } from './rows/receipt.ts';
import { requestsRows } from './rows/requests.ts';
import { servicesRows } from './rows/services.ts';
import { signRows } from './rows/sign.ts';
import { signatureRows } from './rows/signature.ts';
import { signatureProfilesRows } from './rows/signature-profiles.ts';
import { statusRows } from './rows/status.ts';
import { testUsersRows } from './rows/test-users.ts';
import { transportRows } from './rows/transport.ts';

export const conformanceTable: readonly Row[] = [
  ...transportRows,
  ...requestsRows,
  ...applicationProvidersRows,
  ...signRows,
  ...signatureProfilesRows,
  ...servicesRows,
  ...statusRows,
  ...receiptRows,
  ...profileRows,
  ...faultsRows,
  ...testUsersRows,
  ...signatureRows,
];
