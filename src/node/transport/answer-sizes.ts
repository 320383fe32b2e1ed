/** Expected bytes of answers, by kind of call, until one was seen. */
const FIRST_GUESS: Readonly<Record<string, number>> = {
  'eth_getBlockByNumber full': 256 * 1024,
  'eth_getBlockByHash full': 256 * 1024,
  eth_getTransactionReceipt: 8 * 1024,
  eth_getLogs: 64 * 1024,
  eth_getCode: 16 * 1024,
};
const OTHER_GUESS = 1_024;
/** Weight of a new answer that is shorter than the expectation. A longer one counts at once. */
const SHORTER_WEIGHT = 0.1;

/** Learns how long a node's answers are, so that batches can be sized before they are sent. */
export function answerSizes() {
  const learned = new Map<string, number>();
  const expected = (kind: string) => learned.get(kind) ?? FIRST_GUESS[kind] ?? OTHER_GUESS;

  return {
    /** Bytes of an answer to a call of this kind. */
    expected,
    /** Records the length of an answer to these calls. They share it in proportion to their expected lengths. */
    learn(kinds: readonly string[], bytes: number): void {
      const sum = kinds.reduce((all, kind) => all + expected(kind), 0);
      const before = new Map(kinds.map(kind => [kind, expected(kind)]));
      for (const [kind, guess] of before) {
        const seen = (guess / sum) * bytes;
        learned.set(kind, seen > guess ? seen : guess + (seen - guess) * SHORTER_WEIGHT);
      }
    },
  };
}
