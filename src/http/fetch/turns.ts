/**
 * Lets so many tasks run at once and so many wait for it, in the order in which they came. Gives null, without starting
 * the task, when too many wait already.
 */
export function turns<Result>(limits: {
  atOnce: number;
  waiting: number;
}): (task: () => Promise<Result>) => Promise<Result> | null {
  let running = 0;
  const waiting: (() => void)[] = [];

  const run = async (task: () => Promise<Result>): Promise<Result> => {
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };

  return task => {
    if (running < limits.atOnce) {
      running += 1;
      return run(task);
    }
    if (waiting.length >= limits.waiting) return null;
    return new Promise<void>(resolve => waiting.push(resolve)).then(() => run(task));
  };
}
