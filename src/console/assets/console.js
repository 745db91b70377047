/** The browser knows its time zone, the server does not. */
(() => {
  const local = document.querySelector('button[name="times"][value="local"]');
  if (local && window.Intl)
    local.value = Intl.DateTimeFormat().resolvedOptions().timeZone || 'local';
})();

/** A group of the navigation closes when somebody goes elsewhere, and at Escape. */
(() => {
  const open = () => document.querySelector('nav details[open]');
  document.addEventListener('click', (event) => {
    const group = open();
    if (group && !group.contains(event.target)) group.open = false;
  });
  document.addEventListener('keydown', (event) => {
    const group = open();
    if (!group || event.key !== 'Escape') return;
    group.open = false;
    group.querySelector('summary').focus();
  });
})();

/** Rows lead where their links lead, by mouse and arrow keys, and are selected for an order. */
(() => {
  const rowOf = (target) => {
    const row = target.closest('tr[data-id]');
    return row !== null && row.querySelector('th a') !== null ? row : null;
  };
  document.addEventListener('click', (event) => {
    const row = rowOf(event.target);
    const isOwn = event.target.closest('a, button, input, label, summary, .pick');
    if (!row || isOwn || event.defaultPrevented || String(window.getSelection())) return;
    const { ctrlKey, metaKey, shiftKey } = event;
    row
      .querySelector('th a')
      .dispatchEvent(new MouseEvent('click', { ctrlKey, metaKey, shiftKey, cancelable: true }));
  });
  document.addEventListener('keydown', (event) => {
    const row = rowOf(event.target);
    const isDown = event.key === 'ArrowDown';
    if (!row || (!isDown && event.key !== 'ArrowUp')) return;
    const next = isDown ? row.nextElementSibling : row.previousElementSibling;
    if (!next) return;
    const same = event.target.type === 'checkbox' ? 'input' : 'th a';
    const target = next.querySelector(same);
    if (!target) return;
    target.focus();
    event.preventDefault();
  });
  document.documentElement.classList.add('led');

  const picked = document.getElementById('picked');
  if (!picked) return;
  const boxes = () => Array.from(document.querySelectorAll('input[name="id"][form="picked"]'));
  const all = document.getElementById('pick-all');
  const tell = () => {
    const on = boxes().filter((box) => box.checked).length;
    for (const button of picked.querySelectorAll('button')) button.disabled = on === 0;
    document.getElementById('picked-count').textContent = on === 0 ? '' : ` ${on}`;
    all.checked = on > 0 && on === boxes().length;
    all.indeterminate = on > 0 && !all.checked;
  };
  all.hidden = false;
  document.addEventListener('change', (event) => {
    if (event.target === all) for (const box of boxes()) box.checked = all.checked;
    tell();
  });
  window.addEventListener('pageshow', tell);
  tell();
})();

/** The plan of a bulk says how long it takes at the rate that is typed. */
(() => {
  const lasts = document.querySelector('[data-count][data-least]');
  const field = document.getElementById('perSecond');
  if (!lasts || !field) return;
  const [rate, time] = lasts.querySelectorAll('span');
  // As the server writes it (pages/markup.ts).
  const duration = (ms) => {
    if (ms < 59950) return `${(ms / 1000).toFixed(1)} s`;
    const seconds = Math.round(ms / 1000);
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${`0${seconds % 60}`.slice(-2)} s`;
    const minutes = Math.round(seconds / 60);
    return `${Math.floor(minutes / 60)} h ${`0${minutes % 60}`.slice(-2)} min`;
  };
  field.addEventListener('input', () => {
    const perSecond = Number(field.value);
    if (!(perSecond > 0)) return;
    rate.textContent = field.value;
    const { count, least } = lasts.dataset;
    time.textContent = duration(
      Math.max(1000, Number(least) * 1000, (Number(count) * 1000) / perSecond),
    );
  });
})();

/**
 * The script of live pages, for every browser of the last ten years.
 *
 * A live page loads itself again and replaces the regions that have changed (`data-region`), so
 * only the server writes HTML. A region with an active input field is not replaced. In a table with
 * `data-rows`, existing rows change in place; a button counts the new ones. A hidden page, or one
 * without user input for 15 minutes, does not load: a forgotten screen must not keep its session
 * alive.
 *
 * Every two seconds it asks whether the service and its Redis answer. When something is wrong, a
 * banner at the top says what, and how old is what is shown: a page must not look live while it is
 * not.
 */
(() => {
  const main = document.querySelector('main[data-every]');
  if (!main || !window.fetch || !window.DOMParser) return;
  const live = document.getElementById('live');
  const everyMs = Number(main.dataset.every) * 1000;
  const restMs = 15 * 60 * 1000;
  const checkMs = 2000;
  const answerMs = 4000;
  const stale = document.getElementById('stale');
  const staleReason = stale.querySelector('[role="alert"]');
  const staleAge = stale.querySelector('span');
  /** The problems that keep the page from being live, by the check that found them; else empty. */
  const troubles = { page: '', check: '' };
  let shownAt = Date.now();
  let aging;
  let checking;
  let checkedAt = 0;
  let checkingSince;
  let touched = Date.now();
  let timer;
  let stream;
  let asking = false;
  let again = false;
  let over = false;

  const say = (text) => {
    if (live && live.textContent !== text) live.textContent = text;
  };

  const showAge = () => {
    const seconds = Math.max(0, Math.round((Date.now() - shownAt) / 1000));
    staleAge.textContent = seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
  };

  const tell = () => {
    const reason = troubles.page || troubles.check;
    const isLive = reason === '';
    if (staleReason.textContent !== reason) staleReason.textContent = reason;
    stale.hidden = isLive;
    clearInterval(aging);
    if (!isLive) {
      showAge();
      aging = setInterval(showAge, 1000);
    }
    say(isLive && timer !== undefined ? 'Live.' : '');
  };

  const isTypedIn = (region) => {
    const active = document.activeElement;
    return (
      active !== null && region.contains(active) && /^(INPUT|TEXTAREA|SELECT)$/.test(active.tagName)
    );
  };

  const replaceRegion = (region, fresh) => {
    if (region.innerHTML === fresh.innerHTML || isTypedIn(region)) return;
    const opened = {};
    for (const each of region.querySelectorAll('details[id]')) opened[each.id] = each.open;
    const focused = region.contains(document.activeElement) ? document.activeElement.id : '';
    region.innerHTML = fresh.innerHTML;
    for (const each of region.querySelectorAll('details[id]')) {
      if (each.id in opened) each.open = opened[each.id];
    }
    if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
  };

  const rowsIn = (body) => {
    const rows = {};
    for (const row of body.querySelectorAll('tr[data-id]')) rows[row.dataset.id] = row;
    return rows;
  };

  const focusLink = (within) => {
    const link = within.querySelector('a');
    if (link) link.focus();
  };

  // A row that is missing above an existing one does not match the filter any more.
  const strikeOut = (body, theirs) => {
    let below = false;
    for (const row of Array.from(body.querySelectorAll('tr[data-id]')).reverse()) {
      if (theirs[row.dataset.id]) {
        below = true;
        row.classList.remove('left');
      } else if (below && !row.classList.contains('left')) {
        row.classList.add('left');
        row.title = 'Does not fit the filter any more';
      }
    }
  };

  const headIn = (body) => body.parentNode.tHead.textContent;

  const updateRows = (body, fresh) => {
    // Other columns were chosen in another window.
    if (headIn(body) !== headIn(fresh)) return window.location.reload();
    const mine = rowsIn(body);
    const theirs = rowsIn(fresh);
    const ids = Object.keys(theirs);
    for (const id of ids.filter((each) => mine[each])) {
      Array.from(mine[id].cells).forEach((cell, index) => {
        const newer = theirs[id].cells[index];
        // Cell by cell: what is focused or selected in the others stays so.
        if (newer && cell.innerHTML !== newer.innerHTML) cell.innerHTML = newer.innerHTML;
      });
    }
    strikeOut(body, theirs);
    const button = document.getElementById('news');
    if (!button || body.dataset.rows !== 'first') return;
    const fresher = ids.filter((id) => !mine[id]).length;
    button.hidden = fresher === 0;
    const text = `${fresher}${ids.length > 0 && fresher === ids.length ? ' or more' : ''} new`;
    if (fresher > 0 && button.textContent !== text) button.textContent = text;
    button.onclick = () => {
      const on = Array.from(body.querySelectorAll(':checked')).map(({ id }) => id);
      body.innerHTML = fresh.innerHTML;
      for (const box of body.querySelectorAll('input')) box.checked = on.includes(box.id);
      document.dispatchEvent(new Event('change'));
      button.hidden = true;
      focusLink(body);
    };
  };

  const end = (reason) => {
    over = true;
    stop();
    troubles.page = reason;
    tell();
  };

  const loggedOut = 'You are logged out: load the page again.';
  const unreachable = 'The service cannot be reached.';

  const take = (text) => {
    const fresh = new DOMParser().parseFromString(text, 'text/html');
    for (const region of main.querySelectorAll('[data-region]')) {
      const same = fresh.querySelector(`[data-region="${region.dataset.region}"]`);
      if (same) replaceRegion(region, same);
    }
    for (const body of main.querySelectorAll('[data-rows]')) {
      const same = fresh.querySelector('[data-rows]');
      if (same) updateRows(body, same);
    }
    if (!fresh.querySelector('main[data-every]')) end('');
  };

  const ask = () => {
    if (over) return;
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    fetch(window.location.href, { credentials: 'same-origin', cache: 'no-store' })
      .then((answer) => {
        if (answer.redirected) return end(loggedOut);
        if (!answer.ok) {
          troubles.page = `The service has answered with HTTP ${answer.status}.`;
          return;
        }
        return answer.text().then((text) => {
          shownAt = Date.now();
          troubles.page = '';
          take(text);
        });
      })
      .catch(() => {
        troubles.page = unreachable;
      })
      .then(() => {
        asking = false;
        if (over) return;
        tell();
        if (!again) return;
        again = false;
        ask();
      });
  };

  const found = (trouble) => {
    checkingSince = undefined;
    if (over || timer === undefined) return;
    const isBack = trouble === '' && troubles.check !== '';
    troubles.check = trouble;
    // Its reason is the more exact one.
    if (trouble !== '') troubles.page = '';
    tell();
    if (isBack) ask();
  };

  const check = () => {
    const since = Date.now();
    if (checkingSince !== undefined) {
      if (since - checkingSince > answerMs) {
        troubles.check = 'The service does not answer.';
        tell();
      }
      return;
    }
    if (since - checkedAt < checkMs) return;
    checkedAt = since;
    checkingSince = since;
    fetch('/admin/api/session', { credentials: 'same-origin', cache: 'no-store' })
      .then((answer) => {
        if (answer.status === 401) return end(loggedOut);
        if (answer.ok) return found('');
        return answer.json().then(({ message }) => found(`${message}.`));
      })
      .catch(() => found(unreachable));
  };

  const tick = () => {
    if (Date.now() - touched < restMs) return ask();
    stop();
    troubles.page = 'Paused. Press a key or move to go on.';
    tell();
  };

  const start = () => {
    if (timer !== undefined || over || document.hidden) return;
    timer = setInterval(tick, everyMs);
    checking = setInterval(check, 500);
    if (main.dataset.events && window.EventSource) {
      stream = new EventSource(main.dataset.events);
      stream.addEventListener('state', ask);
    }
  };

  const stop = () => {
    clearInterval(timer);
    clearInterval(checking);
    timer = undefined;
    checkingSince = undefined;
    if (stream) stream.close();
    stream = undefined;
    // It says so again when it has asked.
    say('');
  };

  const touch = () => {
    touched = Date.now();
    if (timer !== undefined || over || document.hidden) return;
    start();
    ask();
  };

  for (const name of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart']) {
    document.addEventListener(name, touch, { passive: true });
  }
  document.addEventListener('visibilitychange', () => (document.hidden ? stop() : touch()));
  window.addEventListener('pagehide', stop);
  window.addEventListener('pageshow', (event) => {
    if (event.persisted) window.location.reload();
  });
  start();
  tell();
})();
