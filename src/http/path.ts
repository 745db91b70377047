/** The path of a request, without parsing its whole URL: it is needed for every request. */
export const pathOf = ({ url }: Request): string => {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', start);
  return url.slice(start, query === -1 ? undefined : query);
};
