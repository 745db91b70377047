/** The service worker, and notifications while the app is closed. */
import { call } from './api.js';
import { areEqual, fromBase64 } from './bytes.js';
import { complain, onClick, part } from './page.js';

/** @typedef {{ createScriptURL: (url: string) => string }} ScriptPolicy */

const { worker = '' } = document.getElementById('view')?.dataset ?? {};

/** The only address that the page may ever run beside its own scripts (Trusted Types). */
const policy =
  /** @type {{ trustedTypes?: { createPolicy: (name: string, rules: ScriptPolicy) => ScriptPolicy } }} */ (
    window
  ).trustedTypes?.createPolicy('paraph-phone', {
    createScriptURL: (url) => {
      if (url !== worker) throw new TypeError('not the worker of the phone');
      return url;
    },
  });

export const registerWorker = () => {
  const address = policy?.createScriptURL(worker) ?? worker;
  // Without it everything but notifications and the offline page works.
  navigator.serviceWorker?.register(address, { scope: '/phone' }).catch(() => undefined);
};

/**
 * Offers notifications in the view that is shown, where service and browser can send them. A
 * subscription outlives its phone, and the service's keys: one of before gives its place to
 * another.
 *
 * @param {{ readonly publicKey: string, subscribed: boolean } | undefined} push
 */
export const offerPush = async (push) => {
  const registration = await navigator.serviceWorker?.getRegistration('/phone');
  if (push === undefined || registration?.pushManager === undefined || part('notify') === null)
    return;
  const former = await registration.pushManager.getSubscription();
  const formerKey = former?.options.applicationServerKey;
  const isOn = push.subscribed && !!formerKey && areEqual(formerKey, fromBase64(push.publicKey));
  part('notified').hidden = !isOn;
  part('notify').hidden = isOn || Notification.permission === 'denied';
  onClick('notify', async () => {
    if ((await Notification.requestPermission()) !== 'granted') return complain('failed');
    await former?.unsubscribe();
    const applicationServerKey = fromBase64(push.publicKey);
    const subscription = await registration.pushManager.subscribe({
      userVisibleOnly: true,
      applicationServerKey,
    });
    const { status } = await call('PUT', 'push', subscription.toJSON());
    if (status !== 200) {
      await subscription.unsubscribe();
      return complain('failed');
    }
    push.subscribed = true;
    part('notified').hidden = false;
    part('notify').hidden = true;
  });
};
