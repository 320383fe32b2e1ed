/** One kind of query: an operation of document 2 and its parameters. */
export interface Kind {
  readonly id: string;
  readonly label: string;
  readonly operationId: string;
  /** Path template of the operation in the contract. */
  readonly path: string;
  /** Path parameter for a contract or a wallet. */
  readonly subject?: PathPart;
  /** Path parameter for an event. */
  readonly signature?: PathPart;
  /** Fields with ordered comparisons. */
  readonly ordered: readonly string[];
  /** Fields that are compared for equality only. */
  readonly exact: readonly string[];
  /** Names for sorting and grouping, in addition to expressions. */
  readonly fields: readonly string[];
  readonly canDecode: boolean;
}

export interface PathPart {
  readonly parameter: string;
  readonly label: string;
  readonly example: string;
}

const CONTRACT: PathPart = { parameter: 'contract_address', label: 'Contract', example: '0x…' };
const WALLET: PathPart = { parameter: 'wallet_address', label: 'Wallet or name', example: 'alice.eth' };
const SIGNATURE: PathPart = {
  parameter: 'signature',
  label: 'Event',
  example: 'Transfer(address,address,uint256)',
};

const BLOCK_ORDER = ['block_number', 'block_timestamp'];
const TRANSACTION_ORDER = [...BLOCK_ORDER, 'transaction_index', 'value', 'gas_price', 'gas'];
const EVENT_ORDER = [...BLOCK_ORDER, 'transaction_index', 'log_index'];

const BLOCK_FIELDS = [
  ...['chain_id', 'block_number', 'block_hash', 'block_timestamp', 'miner', 'size', 'transaction_count'],
  ...['gas_limit', 'gas_used', 'base_fee_per_gas'],
];
const TRANSACTION_FIELDS = [
  ...['chain_id', 'block_number', 'block_timestamp', 'hash', 'nonce', 'transaction_index', 'from_address'],
  ...['to_address', 'value', 'gas', 'gas_used', 'gas_price', 'effective_gas_price', 'function_selector'],
  ...['transaction_type', 'contract_address', 'status'],
];
const EVENT_FIELDS = [
  ...['chain_id', 'block_number', 'block_timestamp', 'transaction_hash', 'transaction_index', 'log_index'],
  ...['address', 'data', 'topic_0', 'topic_1', 'topic_2', 'topic_3'],
];

const transactions = {
  ordered: TRANSACTION_ORDER,
  fields: TRANSACTION_FIELDS,
  canDecode: true,
};
const events = { ordered: EVENT_ORDER, fields: EVENT_FIELDS, canDecode: true };

/** Kinds of queries that the playground offers. */
export const KINDS: readonly [Kind, ...Kind[]] = [
  {
    id: 'transactions',
    label: 'Transactions',
    operationId: 'queryTransactions',
    path: '/insights/v1/transactions',
    exact: ['block_hash', 'hash', 'from_address', 'to_address', 'function_selector'],
    ...transactions,
  },
  {
    id: 'blocks',
    label: 'Blocks',
    operationId: 'queryBlocks',
    path: '/insights/v1/blocks',
    ordered: BLOCK_ORDER,
    exact: ['hash'],
    fields: BLOCK_FIELDS,
    canDecode: false,
  },
  {
    id: 'events',
    label: 'Events',
    operationId: 'queryAllEvents',
    path: '/insights/v1/events',
    exact: ['block_hash', 'transaction_hash', 'address', 'topic_0', 'topic_1', 'topic_2', 'topic_3'],
    ...events,
  },
  {
    id: 'wallet-transactions',
    label: 'Transactions of a wallet',
    operationId: 'queryWalletTransactions',
    path: '/insights/v1/wallets/{wallet_address}/transactions',
    subject: WALLET,
    exact: ['block_hash', 'hash', 'function_selector'],
    ...transactions,
  },
  {
    id: 'contract-transactions',
    label: 'Transactions to a contract',
    operationId: 'queryContractTransactions',
    path: '/insights/v1/transactions/{contract_address}',
    subject: CONTRACT,
    exact: ['block_hash', 'hash', 'from_address', 'function_selector'],
    ...transactions,
  },
  {
    id: 'contract-events',
    label: 'Events of a contract',
    operationId: 'queryContractEvents',
    path: '/insights/v1/events/{contract_address}',
    subject: CONTRACT,
    exact: ['block_hash', 'transaction_hash', 'topic_0', 'topic_1', 'topic_2', 'topic_3'],
    ...events,
  },
  {
    id: 'named-events',
    label: 'One event of a contract',
    operationId: 'queryEvents',
    path: '/insights/v1/events/{contract_address}/{signature}',
    subject: CONTRACT,
    signature: SIGNATURE,
    exact: ['block_hash', 'transaction_hash', 'topic_1', 'topic_2', 'topic_3'],
    ...events,
  },
];

/** Comparisons of a filter: suffix of the parameter, and sign. */
export const COMPARISONS: readonly (readonly [suffix: string, sign: string])[] = [
  ['', '='],
  ['_gte', '≥'],
  ['_gt', '>'],
  ['_lte', '≤'],
  ['_lt', '<'],
];

/** Names of all filters of a kind. */
export function filtersOf({ ordered, exact }: Kind): readonly string[] {
  return [
    ...exact.map(field => `filter_${field}`),
    ...ordered.flatMap(field => COMPARISONS.map(([suffix]) => `filter_${field}${suffix}`)),
  ];
}
