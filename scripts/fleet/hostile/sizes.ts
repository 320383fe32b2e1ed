/** Logs of a transaction that also pays. `bytes` is the size of the data of each. */
export interface LogFlood {
  readonly logs: number;
  readonly bytes: number;
}

/** Sizes of everything that the stranger puts on the chain. */
export interface Sizes {
  /** Payments whose receipts can be read. */
  readonly readable: readonly LogFlood[];
  /** A payment whose receipt exceeds the limit of an answer. */
  readonly unreadable: LogFlood;
  /** Internal calls of one transaction, and the bytes of the input of each. Its trace exceeds the limit too. */
  readonly trace: { readonly calls: number; readonly bytes: number };
  /** Transfers of one smallest unit in one transaction. */
  readonly dust: number;
  /** A block of such transactions. */
  readonly flood: { readonly transactions: number; readonly transfers: number };
  /** Blocks in a row, with one transaction each. As JSON a byte of its input is two characters. */
  readonly blocks: { readonly count: number; readonly bytes: number };
  /** A block of such transactions, which exceeds the limit of an answer. */
  readonly largeBlock: { readonly transactions: number; readonly bytes: number };
  /** `rpcMaxAnswer` of the chain; its default, 64 MiB, when absent. */
  readonly maxAnswer?: string;
  readonly blockMs: number;
  /** Time after each attack, and before the first one. */
  readonly pauseMs: number;
  /** True to compare the waits for settlement with those on a plain chain. */
  readonly hasPlainChain: boolean;
}

/** As JSON, anvil's receipts have 360 bytes per log without data: these have 11, 60 and 88 MiB. The trace has 200 MB. */
export const FULL: Sizes = {
  readable: [
    { logs: 32_000, bytes: 0 },
    { logs: 60_000, bytes: 340 },
  ],
  unreadable: { logs: 64_000, bytes: 540 },
  trace: { calls: 1_000, bytes: 100_000 },
  dust: 5_000,
  flood: { transactions: 18, transfers: 1_000 },
  blocks: { count: 200, bytes: 300_000 },
  largeBlock: { transactions: 120, bytes: 300_000 },
  blockMs: 1_000,
  pauseMs: 5_000,
  hasPlainChain: true,
};

/** Next to other chains, each attack is shorter. */
export const FLEET: Sizes = { ...FULL, pauseMs: 3_000 };

/** For a quick run with a limit of 4 MiB. A receipt has 2 MiB, the unreadable one 5 MiB, and a trace 6 MB. */
export const SHORT: Sizes = {
  readable: [{ logs: 5_500, bytes: 0 }],
  unreadable: { logs: 9_000, bytes: 100 },
  trace: { calls: 60, bytes: 50_000 },
  dust: 300,
  flood: { transactions: 5, transfers: 100 },
  blocks: { count: 25, bytes: 60_000 },
  largeBlock: { transactions: 50, bytes: 60_000 },
  maxAnswer: '4MiB',
  blockMs: 200,
  pauseMs: 300,
  hasPlainChain: false,
};
