/**
 * What open pages run, in words that every browser of the last ten years knows.
 *
 * A page with news asks for itself again and takes over what has changed, region by region (`data-region`), so there is one
 * place where things are written as HTML: the server. A region that somebody is typing in stays as it is. Of a table
 * with `data-rows`, rows that are there are changed in place; new ones do not push others away, they are counted by a
 * button. Nothing is asked while nobody looks, or after a quarter of an hour in which nobody has touched anything: a
 * forgotten screen must not keep its session alive.
 */
export const script = `(function () {
  'use strict';
  var main = document.querySelector('main[data-every]');
  if (!main || !window.fetch || !window.DOMParser) return;
  var live = document.getElementById('live');
  var everyMs = Number(main.dataset.every) * 1000;
  var restMs = 15 * 60 * 1000;
  var touched = Date.now();
  var timer, stream, asking = false, again = false, over = false;

  function say(text) {
    if (live && live.textContent !== text) live.textContent = text;
  }

  function busyIn(region) {
    var active = document.activeElement;
    return active && region.contains(active) && /^(INPUT|TEXTAREA|SELECT)$/.test(active.tagName);
  }

  function replaceRegion(region, fresh) {
    if (region.innerHTML === fresh.innerHTML || busyIn(region)) return;
    var opened = {};
    region.querySelectorAll('details[id]').forEach(function (each) { opened[each.id] = each.open; });
    var focused = region.contains(document.activeElement) ? document.activeElement.id : '';
    region.innerHTML = fresh.innerHTML;
    region.querySelectorAll('details[id]').forEach(function (each) {
      if (each.id in opened) each.open = opened[each.id];
    });
    if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
  }

  function rowsIn(body) {
    var rows = {};
    body.querySelectorAll('tr[data-id]').forEach(function (row) { rows[row.dataset.id] = row; });
    return rows;
  }

  // A row that is missing above one that is still there does not fit the filter any more.
  function leave(body, theirs) {
    var below = false;
    Array.prototype.slice.call(body.querySelectorAll('tr[data-id]')).reverse().forEach(function (row) {
      if (theirs[row.dataset.id]) {
        below = true;
        row.classList.remove('left');
      } else if (below && !row.classList.contains('left')) {
        row.classList.add('left');
        row.title = 'Does not fit the filter any more';
      }
    });
  }

  function updateRows(body, fresh) {
    var mine = rowsIn(body), theirs = rowsIn(fresh), fresher = 0;
    Object.keys(theirs).forEach(function (id) {
      if (!mine[id]) fresher += 1;
      else if (mine[id].innerHTML !== theirs[id].innerHTML) {
        var focused = mine[id].contains(document.activeElement);
        mine[id].innerHTML = theirs[id].innerHTML;
        if (focused && mine[id].querySelector('a')) mine[id].querySelector('a').focus();
      }
    });
    leave(body, theirs);
    var button = document.getElementById('news');
    if (!button || body.dataset.rows !== 'first') return;
    button.hidden = fresher === 0;
    var all = Object.keys(theirs).length;
    var text = fresher + (all > 0 && fresher === all ? ' or more' : '') + ' new';
    if (fresher > 0 && button.textContent !== text) button.textContent = text;
    button.onclick = function () {
      body.innerHTML = fresh.innerHTML;
      button.hidden = true;
      var first = body.querySelector('a');
      if (first) first.focus();
    };
  }

  function take(text) {
    var fresh = new DOMParser().parseFromString(text, 'text/html');
    main.querySelectorAll('[data-region]').forEach(function (region) {
      var same = fresh.querySelector('[data-region="' + region.dataset.region + '"]');
      if (same) replaceRegion(region, same);
    });
    main.querySelectorAll('[data-rows]').forEach(function (body) {
      var same = fresh.querySelector('[data-rows]');
      if (same) updateRows(body, same);
    });
    if (main.dataset.every && !fresh.querySelector('main[data-every]')) end('');
  }

  function end(text) {
    over = true;
    stop();
    say(text);
  }

  function ask() {
    if (over) return;
    if (asking) { again = true; return; }
    asking = true;
    fetch(window.location.href, { credentials: 'same-origin', cache: 'no-store' })
      .then(function (answer) {
        if (answer.redirected) return end('You are logged out: load the page again.');
        if (!answer.ok) return say('No news at the moment.');
        return answer.text().then(function (text) {
          take(text);
          if (!over) say('Live.');
        });
      })
      .catch(function () { say('No connection.'); })
      .then(function () {
        asking = false;
        if (again) { again = false; ask(); }
      });
  }

  function tick() {
    if (Date.now() - touched < restMs) return ask();
    stop();
    say('Paused. Press a key or move to go on.');
  }

  function start() {
    if (timer !== undefined || over || document.hidden) return;
    timer = setInterval(tick, everyMs);
    if (main.dataset.events && window.EventSource) {
      stream = new EventSource(main.dataset.events);
      stream.addEventListener('state', ask);
    }
    say('Live.');
  }

  function stop() {
    clearInterval(timer);
    timer = undefined;
    if (stream) stream.close();
    stream = undefined;
  }

  function touch() {
    touched = Date.now();
    if (timer === undefined && !over && !document.hidden) { start(); ask(); }
  }

  ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'].forEach(function (name) {
    document.addEventListener(name, touch, { passive: true });
  });
  document.addEventListener('visibilitychange', function () {
    if (document.hidden) return stop();
    touch();
  });
  window.addEventListener('pagehide', stop);
  window.addEventListener('pageshow', function (event) { if (event.persisted) window.location.reload(); });
  start();
})();
`;
