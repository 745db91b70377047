/** `paraph ls`: transactions, newest first. */
import { addAdminAction, type ListFlags, reportList } from './admin.ts';
import type { AddCommand } from './context.ts';
import {
  addFilterOptions,
  addPageOptions,
  addStateOption,
  type FilterFlags,
  queryOf,
} from './operations-filter.ts';
import { rowColumns, rowDocument } from './operations-row.ts';

export const addLs: AddCommand = (program, context, done) => {
  const command = program.command('ls').description('list transactions, newest first');
  addPageOptions(addFilterOptions(addStateOption(command), context), 50);
  addAdminAction(command, context, done, async (admin, flags: FilterFlags & ListFlags) => {
    admin.needsIndex();
    return reportList(context, admin, flags, {
      command: 'ls',
      path: 'transactions',
      query: queryOf(flags),
      pageRows: 500,
      member: 'transactions',
      none: 'No such transactions.\n',
      columns: rowColumns(context),
      document: rowDocument,
    });
  });
};
