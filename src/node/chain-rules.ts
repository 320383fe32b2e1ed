/** Most blocks on each side of a block that are read to learn the rules of a chain. */
const NEAR = 8;

/**
 * Knowledge of the rules by which a chain hashes its blocks. Until a block with transactions was proven, a block that
 * contradicts its hash may follow a rule that is not known here, and is no fault of a node (Decision 380).
 */
export interface ChainRules {
  /** Records that a block with transactions was proven. */
  learned(): void;
  areKnown(): boolean;
  /**
   * The same after up to eight blocks on each side of this one were read, once for the chain. `prove` reads and recomputes
   * a block, and rejects when it cannot.
   */
  areKnownNear(number: number, prove: (number: number) => Promise<unknown>): Promise<boolean>;
}

export function chainRules(): ChainRules {
  let isKnown = false;
  let reading: Promise<void> | undefined;

  async function readNear(number: number, prove: (number: number) => Promise<unknown>): Promise<void> {
    for (let distance = 1; distance <= NEAR; distance += 1) {
      for (const next of [number - distance, number + distance]) {
        if (isKnown) return;
        // A block that cannot be read teaches nothing.
        if (next >= 0) await prove(next).catch(() => undefined);
      }
    }
  }

  return {
    learned() {
      isKnown = true;
    },
    areKnown: () => isKnown,
    async areKnownNear(number, prove) {
      if (!isKnown) {
        reading ??= readNear(number, prove);
        await reading;
      }
      return isKnown;
    },
  };
}
