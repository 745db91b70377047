/** Where logins lead unless somebody was on the way to another page. */
export const home = '/admin';

const longestNext = 1000;

/** Where a login leads: a page of the console and nothing else. */
export const nextPath = (wanted: string | undefined): string => {
  if (wanted === undefined || wanted.length > longestNext || !/^\/admin(?![\w-])[\x21-\x7e]*$/.test(wanted)) {
    return home;
  }
  const { origin, pathname, search } = new URL(wanted, 'http://console.invalid');
  const isOurs = origin === 'http://console.invalid' && /^\/admin(?:\/|$)/.test(pathname);
  return isOurs && !/^\/admin\/(?:login|logout|api)/.test(pathname) ? `${pathname}${search}` : home;
};

/** `?next=…` behind a path; nothing for home. */
export const nextQuery = (next: string, also: Readonly<Record<string, string>> = {}): string => {
  const query = new URLSearchParams({ ...also, ...(next !== home && { next }) });
  return query.size === 0 ? '' : `?${query}`;
};
