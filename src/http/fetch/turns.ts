/** One task with the group that it counts with. */
export interface Turn<Result> {
  readonly group: string;
  /** Tasks of the group that run at once. */
  readonly groupAtOnce: number;
  readonly task: () => Promise<Result>;
  /** Ends the waiting. A task that runs goes on. */
  readonly left?: AbortSignal;
}

interface WaitingTurn {
  readonly hasRoom: () => boolean;
  readonly group: string;
  readonly begin: () => void;
}

/**
 * Lets a number of tasks run at once, and a number of them wait, in the order in which they came. A group with no room of
 * its own is passed over. Resolves to null, without starting the task, when too many wait or when the turn is left.
 */
export function turns<Result>(limits: {
  readonly atOnce: number;
  readonly waiting: number;
  readonly waitingPerGroup: number;
}): (turn: Turn<Result>) => Promise<Result | null> {
  const running: string[] = [];
  const waiting: WaitingTurn[] = [];

  return async turn => {
    const { group, groupAtOnce, left } = turn;
    const hasRoom = () => running.length < limits.atOnce && countOf(running, group) < groupAtOnce;
    if (hasRoom()) return run(turn);
    const ofGroup = waiting.filter(one => one.group === group).length;
    if (left?.aborted === true || waiting.length >= limits.waiting || ofGroup >= limits.waitingPerGroup)
      return null;
    return new Promise<Result | null>((resolve, reject) => {
      const leave = () => {
        waiting.splice(waiting.indexOf(waiter), 1);
        resolve(null);
      };
      const begin = () => {
        left?.removeEventListener('abort', leave);
        run(turn).then(resolve, reject);
      };
      const waiter = { hasRoom, group, begin };
      waiting.push(waiter);
      left?.addEventListener('abort', leave, { once: true });
    });
  };

  async function run({ group, task }: Turn<Result>): Promise<Result> {
    running.push(group);
    try {
      return await task();
    } finally {
      running.splice(running.indexOf(group), 1);
      const next = waiting.findIndex(({ hasRoom }) => hasRoom());
      if (next >= 0) waiting.splice(next, 1)[0]?.begin();
    }
  }
}

function countOf(groups: readonly string[], group: string): number {
  return groups.filter(one => one === group).length;
}
