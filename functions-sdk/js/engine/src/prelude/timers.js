// The event loop: timers, and what the host is still working on. The Rust half runs promise jobs and asks for a
// `turn` when there are none left.
(function (kit) {
  const { native } = kit;
  // Sorted by time, then by age.
  const timers = [];
  const byId = new Map();
  const waiting = new Map();
  let lastId = 0;

  function schedule(timer) {
    let low = 0;
    let high = timers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (timers[middle].at <= timer.at) low = middle + 1;
      else high = middle;
    }
    timers.splice(low, 0, timer);
  }

  // Not below 1 ms, as in Node: a loop of timers must let time pass.
  const period = (delay) => {
    const number = Number(delay);
    return number >= 1 && number <= 0x7fffffff ? Math.trunc(number) : 1;
  };

  function start(name, callback, delay, values, repeats) {
    kit.requireLive(name);
    if (typeof callback !== 'function') throw new TypeError(`${name}: the callback must be a function`);
    const every = period(delay);
    const timer = { id: (lastId += 1), at: native.now() + every, every: repeats ? every : 0, callback, values };
    byId.set(timer.id, timer);
    schedule(timer);
    return timer.id;
  }

  function clear(id) {
    const timer = byId.get(Number(id));
    if (timer === undefined) return;
    byId.delete(timer.id);
    const index = timers.indexOf(timer);
    if (index >= 0) timers.splice(index, 1);
  }

  function fire(timer) {
    timers.shift();
    if (timer.every === 0) {
      byId.delete(timer.id);
    } else {
      timer.at = native.now() + timer.every;
      schedule(timer);
    }
    timer.callback.apply(undefined, timer.values);
  }

  kit.define('setTimeout', function setTimeout(callback, delay, ...values) {
    return start('setTimeout', callback, delay, values, false);
  });
  kit.define('setInterval', function setInterval(callback, delay, ...values) {
    return start('setInterval', callback, delay, values, true);
  });
  kit.define('clearTimeout', function clearTimeout(id) {
    clear(id);
  });
  kit.define('clearInterval', function clearInterval(id) {
    clear(id);
  });

  const performance = {
    now: () => native.now(),
    get timeOrigin() {
      return Date.now() - native.now();
    },
    toJSON: () => ({ timeOrigin: Date.now() - native.now() }),
  };
  kit.define('performance', performance);

  // `settle(id)` is called once, when the host has what it was asked for.
  kit.await = (id, settle) => waiting.set(id, settle);
  kit.forget = (id) => {
    waiting.delete(id);
    native.abandon(id);
  };

  // Waits for the next thing to happen and lets it happen. False when nothing can.
  kit.turn = () => {
    const next = timers[0];
    const delay = next === undefined ? undefined : next.at - native.now();
    if (delay === undefined && waiting.size === 0) return false;
    if (delay !== undefined && delay <= 0) {
      fire(next);
      return true;
    }
    for (const id of native.wait(delay)) {
      const settle = waiting.get(id);
      waiting.delete(id);
      settle?.(id);
    }
    return true;
  };
})
