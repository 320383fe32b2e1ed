/** Task with its group. */
export interface GroupTask<Result> {
  readonly group: string;
  /** Maximum concurrent tasks of the group. */
  readonly groupAtOnce: number;
  readonly task: () => Promise<Result>;
  /** Cancels waiting. A running task continues. */
  readonly left?: AbortSignal;
}

interface WaitingTurn {
  readonly hasRoom: () => boolean;
  readonly group: string;
  readonly begin: () => void;
}

/**
 * Limits concurrent and waiting tasks; waiting tasks start in order of arrival. Groups at their own limit are skipped.
 * Resolves to null, without starting the task, when too many wait or when `left` aborts.
 */
export function turns<Result>(limits: {
  readonly atOnce: number;
  readonly waiting: number;
  readonly waitingPerGroup: number;
}): (turn: GroupTask<Result>) => Promise<Result | null> {
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

  async function run({ group, task }: GroupTask<Result>): Promise<Result> {
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
