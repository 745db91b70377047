/**
 * bull-board leaves its icons without a name, its jobs' headings at level five and its pages with
 * one title. This gives them names, levels and titles, whenever its page has changed.
 */
(() => {
  const names = {
    maximize: 'Full screen',
    minimize: 'Leave the full screen',
    settings: 'Settings',
    'circle-user': 'Links',
    'ellipsis-vertical': 'More',
    copy: 'Copy',
    'external-link': 'Its page in the console',
  };

  const nameOf = (icon) => {
    const [, kind = 'button'] = /lucide-([a-z0-9-]+)/.exec(icon.getAttribute('class')) || [];
    return names[kind] || kind.replace(/-/g, ' ');
  };

  const title = () => {
    const [, queue, job] = /\/queue\/([^/]+)(?:\/([^/]+))?/.exec(window.location.pathname) || [];
    return [job, queue].filter(Boolean).map(decodeURIComponent).concat('Queues', 'Paraph');
  };

  const mend = () => {
    for (const icon of document.querySelectorAll('button > svg, a > svg')) {
      const control = icon.parentNode;
      if (control.textContent.trim() === '' && !control.hasAttribute('aria-label'))
        control.setAttribute('aria-label', nameOf(icon));
    }
    // The name of the board stands beside its picture.
    for (const picture of document.querySelectorAll('header img[alt]:not([alt=""])'))
      picture.alt = '';
    for (const heading of document.querySelectorAll('h5:not([aria-level])'))
      heading.setAttribute('aria-level', '2');
    const text = title().join(' · ');
    if (document.title !== text) document.title = text;
  };

  new MutationObserver(mend).observe(document.documentElement, { childList: true, subtree: true });
  mend();
})();
