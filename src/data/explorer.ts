import type { Handlers } from '../contract/operations.ts';
import type { Serve } from './answer.ts';
import { firstAvailable, firstFound } from './chains/strategies.ts';
import type { DataOperations } from './port/backend.ts';
import type { Row } from './row.ts';

const lookup: Row = { strategyFor: () => firstFound, lifetime: 'record' };
const feed: Row = { strategyFor: () => firstAvailable, lifetime: 'moving' };
/** A hash is one block's; a number means something on every chain, so the first chain that is there has the word. */
const block: Row = {
  strategyFor: path =>
    'block_number_or_hash' in path && isHash(path.block_number_or_hash) ? firstFound : firstAvailable,
  lifetime: 'record',
};

const isHash = (value: unknown) => typeof value === 'string' && value.startsWith('0x');

/** Document 1: each operation's way over the chains and the lifetime of its answers. */
export const explorer = (serve: Serve): Handlers<DataOperations> => ({
  listTransactions: serve('listTransactions', feed),
  getTransaction: serve('getTransaction', lookup),
  listTransactionTokenTransfers: serve('listTransactionTokenTransfers', lookup),
  listTransactionLogs: serve('listTransactionLogs', lookup),
  listBlocks: serve('listBlocks', feed),
  getBlock: serve('getBlock', block),
  listBlockTransactions: serve('listBlockTransactions', block),
  listTokenTransfers: serve('listTokenTransfers', feed),
  listMainPageTransactions: serve('listMainPageTransactions', feed),
  listMainPageBlocks: serve('listMainPageBlocks', feed),
});
