/**
 * The script of pages that wait for the phone, for browsers of the last ten years. News come as a
 * server-sent event. A browser without them, or that lost the stream twice, polls every two seconds.
 * Nothing runs while the page is hidden; it asks at once when it is shown again. A QR code on the
 * page is a new one every three seconds.
 */
export const script = `(function () {
  'use strict';
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
