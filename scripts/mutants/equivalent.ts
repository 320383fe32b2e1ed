/** A mutation that no test can tell from the original. */
export interface EquivalentMutation {
  readonly file: string;
  /** The line of the source that the mutation begins in, without indentation. */
  readonly line: string;
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
}

/** Mutations that do not count, because the program behaves the same with them. */
export const EQUIVALENT: readonly EquivalentMutation[] = [
  {
    file: 'src/data/fallback/first-found.ts',
    line: 'const signal = chains.length > 1 ? AbortSignal.any([options.signal, stop.signal]) : options.signal;',
    original: 'chains.length > 1',
    replacement: 'true',
    reason: 'With one chain no one aborts the second signal. Leaving it out only saves time.',
  },
  {
    file: 'src/data/serve/cached-answers.ts',
    line: "if (result !== 'HIT') return { status: 200 as const, headers, encoded: { representation } };",
    original: "result !== 'HIT'",
    replacement: 'false',
    reason: 'The fast path keeps only heads with “X-Cache: HIT”, so it learns nothing from other answers.',
  },
  {
    file: 'src/data/serve/cached-answers.ts',
    line: "return String(headers['cache-control'] ?? '')",
    original: "headers['cache-control'] ?? ''",
    replacement: "headers['cache-control']",
    reason: 'The text of an absent header is “undefined”, which asks for no reload either.',
  },
  {
    file: 'src/indexer/sync/parts-writer.ts',
    line: "await select({ from: 'logs', isDistinct: true, columns: ['transaction_id'] }).rows(",
    original: 'true',
    replacement: 'false',
    reason: 'The set around it takes each transaction once.',
  },
  {
    file: 'src/payments/sessions/amounts-due.ts',
    line: 'for (let index = 0n; index < size; index++) {',
    original: 'index < size',
    replacement: 'index <= size',
    reason: 'The amount after the last one is the first one again, which was taken.',
  },
  {
    file: 'src/payments/sessions/suggested-session.ts',
    line: 'const reach = largestTail(2n * amount, tokenDecimals);',
    original: '2n',
    replacement: '3n',
    reason: 'The statement selects more sessions, and rankOf leaves out those that are too far away.',
  },
  {
    file: 'src/payments/sessions/suggested-session.ts',
    line: 'return a < b ? -1 : 1;',
    original: '1',
    replacement: '2',
    reason: 'Only the sign of a comparison counts.',
  },
  {
    file: 'src/payments/sessions/suggested-session.ts',
    line: 'const lowest = amount > reach ? amount - reach : 0n;',
    original: '0n',
    replacement: '1n',
    reason: 'No session asks for an amount of 0.',
  },
  {
    file: 'src/payments/settlement/transfer-records.ts',
    line: 'const others = all.filter(one => one !== claim);',
    original: 'all.filter(one => one !== claim)',
    replacement: 'all',
    reason: 'A claim is neither confirming nor completed, so it adds nothing to the session of its transfer.',
  },
  {
    file: 'src/payments/settlement/endings.ts',
    line: 'place: 0,',
    original: '0',
    replacement: '1',
    reason: 'An expiry is the only event of its session at its time, so its place orders nothing.',
  },
  {
    file: 'src/payments/watcher/refunds/sent-refunds.ts',
    line: 'doubted.set(id, Math.min(doubted.get(id) ?? transfer.blockNumber, transfer.blockNumber) - 1);',
    original: '1',
    replacement: '2',
    reason: 'One more block is searched again, of which each transfer is judged as before.',
  },
  {
    file: 'src/payments/watcher/look/chosen-transfers.ts',
    line: 'begin += AGAIN_PER_LOOK;',
    original: 'begin += AGAIN_PER_LOOK',
    replacement: 'begin -= AGAIN_PER_LOOK',
    reason: 'The rotation goes backwards, and each transfer has its turn as soon.',
  },
  {
    file: 'src/payments/watcher/set-aside-blocks.ts',
    line: 'async dropReplaced(round: Round, standing = -1): Promise<void> {',
    original: '1',
    replacement: '2',
    reason: 'No block has a negative number.',
  },
  {
    file: 'src/payments/watcher/running-watcher.ts',
    line: 'let heartbeatMs = 0;',
    original: '0',
    replacement: '1',
    reason: 'The first run of the heartbeat replaces it before the first pause.',
  },
  {
    file: 'src/payments/watcher/expiry.ts',
    line: 'const { headTime = 0, scannedAt = 0 } = (await cursorStore(handle).find(chainId)) ?? {};',
    original: '0',
    replacement: '1',
    reason: 'Both are times in 1970, before every session.',
  },
  {
    file: 'src/payments/webhooks/dispatcher.ts',
    line: "if (dealt.length > 0) await fault('before claim');",
    original: 'dealt.length > 0',
    replacement: 'true',
    reason: 'Only tests inject faults, and one that is injected before nothing is claimed changes nothing.',
  },
];
