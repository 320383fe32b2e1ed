import type { Reader } from '../../../indexer/reader/reader.ts';
import type { Backend } from '../../port/backend.ts';
import { blockAnswers } from './blocks.ts';
import type { IndexSource } from './source.ts';
import { tokenTransferAnswers } from './token-transfers.ts';
import { transactionListAnswers } from './transaction-lists.ts';
import { transactionAnswers } from './transactions.ts';

/** What this back end needs to know of a running index. */
export interface RunningIndex {
  readonly reader: Reader;
  status(): { head: number | null; lag: number | null; complete: boolean };
  revision(): string;
  epoch(): number;
}

/** Blocks that a node may be ahead of an index that follows it closely. */
const CLOSE = 1;

/** A chain's own index as one of its back ends. */
export function indexBackend(options: { name: string; chainId: number; index: RunningIndex }): Backend {
  const { name, chainId, index } = options;
  let caughtUp = false;
  const source: IndexSource = {
    name,
    chainId,
    reader: index.reader,
    hasCaughtUp() {
      caughtUp ||= index.status().complete;
      return caughtUp;
    },
    isAtHead() {
      const { lag } = index.status();
      return lag !== null && lag <= CLOSE;
    },
  };
  return {
    kind: 'index',
    name,
    chainId,
    answers: {
      ...transactionAnswers(source),
      ...transactionListAnswers(source),
      ...tokenTransferAnswers(source),
      ...blockAnswers(source),
    },
    validity: () => ({ revision: index.revision(), epoch: index.epoch() }),
    status() {
      const { head, lag } = index.status();
      return { ready: source.hasCaughtUp(), head: head ?? undefined, lag: lag ?? undefined };
    },
  };
}
