/** The queue board, which is another's program. */
export const isBoard = (path: string): boolean =>
  path === '/admin/queues' || path.startsWith('/admin/queues/');

/** Asked by a program, not by a person. */
export const isApi = (path: string): boolean =>
  path.startsWith('/admin/api/') || path.startsWith('/admin/queues/api/');
