/** The path of a request, found without taking its address apart: this is asked of every request. */
export const pathOf = ({ url }: Request): string => {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', start);
  return url.slice(start, query === -1 ? undefined : query);
};
