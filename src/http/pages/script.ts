/**
 * The script of pages that wait for the phone, for browsers of the last ten years. News come as a
 * server-sent event. A browser without them, or that lost the stream twice, polls every two
 * seconds. Nothing runs while the page is hidden; it asks at once when it is shown again. A QR code
 * on the page is a new one every three seconds.
 *
 * A page that has loaded itself again holds its buttons until nothing has moved for a second: a
 * finger may be on its way to what was there before. The phone does the same
 * (parts/phone/assets/hold.js).
 */
export const script = `(function () {
  'use strict';
  var restMs = 1000, lookMs = 100;

  function hold() {
    var main = document.querySelector('main');
    var held = main.querySelectorAll('button, summary');
    var places, since, timer;

    function placesNow() {
      return Array.prototype.map.call(held, function (each) {
        var box = each.getBoundingClientRect();
        return [box.left, box.top, box.width, box.height].map(Math.round).join();
      }).join(' ');
    }

    function setHeld(isHeld) {
      var listen = isHeld ? 'addEventListener' : 'removeEventListener';
      main[listen]('click', refuse, true);
      main[listen]('submit', refuse, true);
      main.classList.toggle('held', isHeld);
      Array.prototype.forEach.call(held, function (each) {
        if (isHeld) each.setAttribute('aria-disabled', 'true');
        else each.removeAttribute('aria-disabled');
      });
    }

    function refuse(event) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }

    function look() {
      var found = placesNow();
      if (found !== places || document.hidden) {
        places = found;
        since = Date.now();
      } else if (Date.now() - since >= restMs) {
        clearInterval(timer);
        setHeld(false);
      }
    }

    setHeld(true);
    look();
    timer = setInterval(look, lookMs);
  }

  var mark = 'paraph-changed';
  try {
    if (sessionStorage.getItem(mark)) hold();
    sessionStorage.removeItem(mark);
  } catch (error) {
    // The browser keeps nothing for this page.
  }

  var waiting = document.getElementById('waiting');
  if (!waiting) return;
  var clock = document.getElementById('clock');
  var status = document.getElementById('status');
  var deadline = Date.now() + Number(waiting.dataset.seconds) * 1000;
  var nearlySeconds = Number(waiting.dataset.nearlySeconds);
  var pollMs = 2000;
  var code = document.getElementById('qr');
  var turnMs = 3000;
  var stream, poll, tick, turn, turns = 0, losses = 0, said = false, active = false;

  function reload() {
    stop();
    try {
      sessionStorage.setItem(mark, '1');
    } catch (error) {
      // As above.
    }
    window.location.reload();
  }

  function ask() {
    fetch(waiting.dataset.state, { cache: 'no-store', credentials: 'same-origin', headers: { accept: 'application/json' } })
      .then(function (answer) { return answer.json(); })
      .then(function (answer) { if (active && answer.state === 'ended') reload(); })
      .catch(function () {});
  }

  function startPolling() {
    if (poll === undefined) poll = setInterval(ask, pollMs);
  }

  function closeStream() {
    if (stream) stream.close();
    stream = undefined;
  }

  function lost() {
    losses += 1;
    if (losses < 2 && stream && stream.readyState !== 2) return;
    closeStream();
    startPolling();
  }

  function listen() {
    if (losses >= 2 || !window.EventSource) return startPolling();
    stream = new EventSource(waiting.dataset.events);
    stream.addEventListener('changed', reload);
    stream.onerror = lost;
  }

  function show() {
    var left = Math.max(0, Math.ceil((deadline - Date.now()) / 1000));
    clock.textContent = Math.floor(left / 60) + ':' + ('0' + (left % 60)).slice(-2);
    if (!said && left > 0 && left <= nearlySeconds) {
      said = true;
      var words = document.createElement('span');
      words.className = 'unseen';
      words.textContent = ' ' + waiting.dataset.nearlyOver;
      status.appendChild(words);
    }
    if (left === 0) startPolling();
  }

  function showCode() {
    turns += 1;
    code.src = code.dataset.source + '?' + turns;
  }

  function start() {
    if (active) return;
    active = true;
    if (clock) {
      show();
      tick = setInterval(show, 1000);
    }
    if (code) {
      showCode();
      turn = setInterval(showCode, turnMs);
      code.parentNode.hidden = false;
    }
    listen();
  }

  function stop() {
    active = false;
    clearInterval(tick);
    clearInterval(turn);
    clearInterval(poll);
    poll = undefined;
    closeStream();
  }

  document.addEventListener('visibilitychange', function () {
    if (document.hidden) return stop();
    start();
    ask();
  });
  window.addEventListener('pagehide', stop);
  window.addEventListener('pageshow', function (event) { if (event.persisted) reload(); });
  if (!document.hidden) start();
})();
`;
