/**
 * The service worker: a page for when there is no connection, and notifications. It keeps no answer
 * of the service, and sees no key.
 *
 * The service writes `offlineFiles` and `notices` in front of it.
 */
/* global offlineFiles, notices */
const cacheName = 'paraph-phone';

self.addEventListener('install', (event) => {
  self.skipWaiting();
  const fresh = offlineFiles.map((address) => new Request(address, { cache: 'reload' }));
  event.waitUntil(caches.open(cacheName).then((cache) => cache.addAll(fresh)));
});

self.addEventListener('activate', (event) => {
  const drop = async () => {
    const cache = await caches.open(cacheName);
    for (const { url } of await cache.keys()) {
      const { pathname, search } = new URL(url);
      if (!offlineFiles.includes(`${pathname}${search}`)) await cache.delete(url);
    }
    await self.clients.claim();
  };
  event.waitUntil(drop());
});

self.addEventListener('fetch', (event) => {
  const { pathname, search } = new URL(event.request.url);
  if (event.request.mode === 'navigate' && pathname === '/phone') {
    event.respondWith(fetch(event.request).catch(() => caches.match(offlineFiles[0])));
  } else if (offlineFiles.includes(`${pathname}${search}`)) {
    event.respondWith(fetch(event.request).catch(() => caches.match(event.request)));
  }
});

/** The text of a request is not sent through the push service of the browser's maker. */
self.addEventListener('push', (event) => {
  const { title, prompt, enrolled, icon, lang } = notices;
  const isEnrolled = event.data?.json().kind === 'enrolled';
  const tag = isEnrolled ? 'enrolled' : 'prompt';
  const options = { body: isEnrolled ? enrolled : prompt, icon, lang, tag, renotify: true };
  event.waitUntil(self.registration.showNotification(title, options));
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const open = async () => {
    const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
    const page = pages.find(({ url }) => new URL(url).pathname === '/phone');
    await (page === undefined ? self.clients.openWindow('/phone') : page.focus());
  };
  event.waitUntil(open());
});
