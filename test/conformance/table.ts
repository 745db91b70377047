/** The conformance table: each rule of the interface, and the tests that hold it. */
import type { Row } from './row.ts';
import { additionalServicesRows } from './rows/additional-services.ts';
import { applicationProvidersRows } from './rows/application-providers.ts';
import { callerRows } from './rows/caller.ts';
import { dataToBeSignedRows } from './rows/data-to-be-signed.ts';
import { dialectsRows } from './rows/dialects.ts';
import { faultCodesRows } from './rows/fault-codes.ts';
import { faultsRows } from './rows/faults.ts';
import { openidRows } from './rows/openid.ts';
import { profileRows } from './rows/profile.ts';
import { profileParamsRows } from './rows/profile-params.ts';
import { receiptRows } from './rows/receipt.ts';
import { receiptReactionsRows } from './rows/receipt-reactions.ts';
import { requestsRows } from './rows/requests.ts';
import { servicesRows } from './rows/services.ts';
import { signRows } from './rows/sign.ts';
import { signatureRows } from './rows/signature.ts';
import { signatureProfilesRows } from './rows/signature-profiles.ts';
import { statusRows } from './rows/status.ts';
import { testUsersRows } from './rows/test-users.ts';
import { transactionsRows } from './rows/transactions.ts';
import { transportRows } from './rows/transport.ts';
import { versionsRows } from './rows/versions.ts';

export const conformanceTable: readonly Row[] = [
  ...transportRows,
  ...dialectsRows,
  ...requestsRows,
  ...versionsRows,
  ...callerRows,
  ...applicationProvidersRows,
  ...signRows,
  ...dataToBeSignedRows,
  ...transactionsRows,
  ...signatureProfilesRows,
  ...servicesRows,
  ...additionalServicesRows,
  ...statusRows,
  ...receiptRows,
  ...receiptReactionsRows,
  ...profileRows,
  ...profileParamsRows,
  ...faultsRows,
  ...faultCodesRows,
  ...testUsersRows,
  ...signatureRows,
  ...openidRows,
];
