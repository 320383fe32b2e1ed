/**
 * Sets the clock of a process ahead by `CLOCK_AHEAD_MS` milliseconds, as on a machine without NTP. Loaded by
 * `node --import` before the program. Timers and `performance` stay right, because nobody sets those clocks.
 */
const aheadMs = Number(process.env.CLOCK_AHEAD_MS);
const rightNow = Date.now;

globalThis.Date = new Proxy(Date, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [Date.now()] : given, newTarget),
});
Date.now = () => rightNow() + aheadMs;
