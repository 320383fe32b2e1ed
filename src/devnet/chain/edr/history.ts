/** Calls a method of EDR's. @throws Error with what EDR says when it refuses. */
export type Ask = (method: string, ...params: readonly unknown[]) => Promise<unknown>;

/** The states that a chain can go back to. */
export interface History {
  /** Keeps the state of the newest block; to be called after every block that was mined by itself. */
  keep(): Promise<void>;
  /** Forgets what EDR forgot because it went back to a snapshot. */
  forgetSince(snapshot: unknown): void;
  /** Takes the newest blocks away. @throws RangeError when the state before them is not kept. */
  rollBack(depth: number): Promise<void>;
}

/** Keeps a snapshot of every block, because EDR goes back to nothing else. */
export async function keepHistory(ask: Ask): Promise<History> {
  let kept: { height: number; snapshot: string }[] = [];
  let rollbacks = 0;

  const height = async (): Promise<number> => Number(await ask('eth_blockNumber'));
  const keep = async (): Promise<void> => {
    kept.push({ height: await height(), snapshot: String(await ask('evm_snapshot')) });
  };
  const forgetSince = (snapshot: unknown): void => {
    kept = kept.filter(one => BigInt(one.snapshot) < BigInt(String(snapshot)));
  };

  await keep();
  return {
    keep,
    forgetSince,
    async rollBack(depth) {
      const before = (await height()) - depth;
      const found = kept.find(one => one.height === before);
      if (found === undefined) throw new RangeError(`the state of block ${before} is not kept`);
      await ask('evm_revert', found.snapshot);
      forgetSince(found.snapshot);
      await keep();
      // Otherwise a block with the same content would be the same block again.
      rollbacks += 1;
      await ask('hardhat_setPrevRandao', `0x${rollbacks.toString(16).padStart(64, '0')}`);
    },
  };
}
