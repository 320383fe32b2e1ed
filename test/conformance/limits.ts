import type { OperationId } from '../../src/data/backends/port/backend.ts';
import type { Generation } from '../lab/blockscout/generation.ts';
import { chainKind } from '../lab/chain-kind.ts';
import type { Unknown } from './differences.ts';

/** Parts of the contract that a back end cannot provide. */
export interface Limits {
  /** Missing answers: 501. */
  readonly missing: readonly OperationId[];
  /** Fields missing in its records, compared with the index. */
  readonly unknown: readonly Unknown[];
  /** Lists that only a cursor can walk: their position does not fit into the document's keys. */
  readonly byCursorOnly: readonly OperationId[];
  /** Lists in the order in which the back end read state of the chain, which each does in its own time. */
  readonly inOrderOfReading: readonly OperationId[];
  /** True when lists whose positions have the same keys accept each other's cursors. */
  readonly sharesCursors: boolean;
  /** Compares a transaction of every sort, or only a few. */
  readonly depth: 'whole' | 'brief';
}

const nothing = (fields: readonly string[], ...operations: readonly OperationId[]): Unknown[] =>
  fields.map(field => ({ field, reads: 'nothing', ...(operations.length === 0 ? {} : { operations }) }));

const LISTS_OF_TRANSACTIONS: readonly OperationId[] = [
  'listTransactions',
  'listMainPageTransactions',
  'listBlockTransactions',
  'listAddressTransactions',
];

/** Fields that no version has. */
const NEVER: readonly Unknown[] = [
  ...nothing(['token_transfers', 'token_transfers_overflow'], ...LISTS_OF_TRANSACTIONS),
  ...nothing(['extra_data', 'state_root', 'proven']),
  ...(chainKind.hardfork === 'amsterdam' ? nothing(['block_access_list_hash', 'slot_number']) : []),
  ...nothing(['holder_address_hash']),
  // An unverified contract has little more than its code.
  ...nothing(
    ['is_verified', 'is_verified_via_eth_bytecode_db', 'can_be_visualized_via_visualizer'],
    'getSmartContract',
  ),
];

/** Errors of contracts are named in records since 11, and nowhere else. */
const RAW_ERRORS_IN_LISTS: Unknown = {
  field: 'revert_reason',
  operations: LISTS_OF_TRANSACTIONS,
  reads: 'data',
};
const RAW_ERRORS: Unknown = {
  field: 'revert_reason',
  operations: [...LISTS_OF_TRANSACTIONS, 'getTransaction'],
  reads: 'data',
};
const FLAG_ONLY = nothing(['status'], 'getSmartContract');

/** The index is the reference and is compared with itself: one transaction per outcome suffices. */
export const INDEX: Limits = {
  missing: [],
  unknown: [],
  byCursorOnly: [],
  inOrderOfReading: ['listAddressTokens', 'listAddressTokenBalances'],
  sharesCursors: true,
  depth: 'brief',
};

/** Operations that no Blockscout has. */
export const OURS_ONLY: readonly OperationId[] = ['getTransactionProof'];

/** Fields that each generation of Blockscout lacks. */
export const BLOCKSCOUT: Readonly<Record<Generation, Limits>> = {
  v5: {
    missing: [
      ...OURS_ONLY,
      'listTokenTransfers',
      'listInternalTransactions',
      'listBlockInternalTransactions',
      'listAddressNfts',
      'listAddressNftCollections',
      'getTransactionStats',
    ],
    unknown: [
      ...NEVER,
      RAW_ERRORS,
      ...FLAG_ONLY,
      ...nothing(['minimal_proxy_address_hash'], 'getSmartContract'),
      ...nothing(['block_hash', 'block_number'], 'listTransactionLogs', 'listAddressLogs'),
      ...nothing(
        ['block_number'],
        'listTransactionTokenTransfers',
        'listAddressTokenTransfers',
        'listTransfersOfToken',
        'listTransfersOfTokenInstance',
      ),
      ...nothing(['gas_price_updated_at'], 'getStats'),
      ...nothing(['days'], 'getAddressCoinBalancesByDay'),
      ...nothing(
        ['creationMethod', 'transactionPosition', 'blockHash', 'blockNumber'],
        'getTransactionRawTrace',
      ),
    ],
    byCursorOnly: ['listTransactionLogs', 'listTokens'],
    inOrderOfReading: [],
    sharesCursors: false,
    depth: 'whole',
  },
  'v6.9': {
    missing: [...OURS_ONLY, 'listInternalTransactions', 'listBlockInternalTransactions'],
    unknown: [...NEVER, RAW_ERRORS, ...FLAG_ONLY],
    byCursorOnly: ['listTokens'],
    inOrderOfReading: [],
    sharesCursors: false,
    depth: 'brief',
  },
  v8: {
    missing: [...OURS_ONLY],
    unknown: [...NEVER, RAW_ERRORS],
    byCursorOnly: ['search'],
    inOrderOfReading: [],
    sharesCursors: false,
    depth: 'brief',
  },
  'v9.3': {
    missing: [...OURS_ONLY],
    unknown: [...NEVER, RAW_ERRORS],
    byCursorOnly: ['search'],
    inOrderOfReading: [],
    sharesCursors: false,
    depth: 'brief',
  },
  v11: {
    missing: [...OURS_ONLY],
    unknown: [...NEVER, RAW_ERRORS_IN_LISTS],
    byCursorOnly: ['search'],
    inOrderOfReading: [],
    sharesCursors: false,
    depth: 'brief',
  },
  v12: {
    missing: [...OURS_ONLY],
    unknown: [...NEVER, RAW_ERRORS_IN_LISTS, ...nothing(['token'], 'listTokenInstances')],
    byCursorOnly: ['search'],
    inOrderOfReading: [],
    sharesCursors: false,
    depth: 'whole',
  },
};
