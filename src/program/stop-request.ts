const PARENT_EVERY_MS = 500;

/** Resolves with the reason when the process must stop: a signal, or the end of the process `parent`. */
export function stopRequest({ parent }: { parent: number | undefined }): Promise<string> {
  return Promise.race([stopSignal(), ...(parent === undefined ? [] : [endOf(parent)])]);
}

/**
 * Resolves with the first signal. The next SIGTERM is ignored: a launcher passes on a signal that has also reached this
 * process, for example from a service manager. A third one kills.
 */
function stopSignal(): Promise<string> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        process.once('SIGTERM', () => undefined);
        resolve(signal);
      });
    }
  });
}

/**
 * Resolves when the parent process has ended. npm passes a signal to its shell only, which ends without passing it on,
 * and a killed launcher passes on nothing either. The server would keep running with no process to stop it.
 */
function endOf(parent: number): Promise<string> {
  return new Promise(resolve => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      resolve('end of the parent');
    }, PARENT_EVERY_MS);
    timer.unref();
  });
}
