const PARENT_EVERY_MS = 500;

/** Resolves when the process is to stop, with what said so. `parent`: the process whose end is a stop, too. */
export function stopRequest({ parent }: { parent: number | undefined }): Promise<string> {
  return Promise.race([stopSignal(), ...(parent === undefined ? [] : [endOf(parent)])]);
}

function stopSignal(): Promise<string> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal));
  });
}

/**
 * Resolves when the parent process is gone. npm hands a signal on to its shell alone, which ends without telling us, and a
 * launcher that is killed tells nothing either: the server would go on without anybody to stop it.
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
