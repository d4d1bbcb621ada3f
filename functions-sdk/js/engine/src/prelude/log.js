// `console` and `ctx.log`: lines for the tenant's log.
(function (kit) {
  const { native, format } = kit;
  const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'];

  function write(level, values, name) {
    kit.requireLive(name);
    native.write(level, format(values).toWellFormed());
  }

  function makeLog() {
    const log = (...values) => {
      const level = values.length > 1 ? LEVELS.indexOf(values[0]) : -1;
      return level < 0 ? write(2, values, 'ctx.log') : write(level, values.slice(1), 'ctx.log');
    };
    LEVELS.forEach((name, level) => {
      log[name] = (...values) => write(level, values, `ctx.log.${name}`);
    });
    return log;
  }

  function makeConsole() {
    const console = {};
    const levels = { log: 2, trace: 0, debug: 1, info: 2, warn: 3, error: 4 };
    for (const [name, level] of Object.entries(levels)) {
      console[name] = (...values) => write(level, values, `console.${name}`);
    }
    console.dir = (value) => write(2, [value], 'console.dir');
    console.assert = (condition, ...values) => {
      if (!condition) write(4, ['Assertion failed', ...values], 'console.assert');
    };
    return console;
  }

  kit.log = makeLog();
  kit.define('console', makeConsole());
  kit.reportError = (error) => write(4, ['uncaught in a listener:', error], 'dispatchEvent');
})
