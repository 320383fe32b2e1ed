/** Calls a method of EDR. @throws Error with EDR's message when it refuses. */
export type Ask = (method: string, ...params: readonly unknown[]) => Promise<unknown>;

/** Snapshots to which a chain can be rolled back. */
export interface History {
  /** Keeps the state of the newest block. Call it after every block that was mined outside of `rollBack`. */
  keep(): Promise<void>;
  /** Drops the snapshots that EDR lost by reverting to an earlier one. */
  forgetSince(snapshot: unknown): void;
  /** Removes the newest blocks. @throws RangeError when the state before them is not kept. */
  rollBack(depth: number): Promise<void>;
}

/** Creates a history with a snapshot of every block, because EDR can only revert to snapshots. */
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
      // Without this, a new block with the same content would have the hash of the removed one.
      rollbacks += 1;
      await ask('hardhat_setPrevRandao', `0x${rollbacks.toString(16).padStart(64, '0')}`);
    },
  };
}
