import { type Fields, fieldsOf } from '#data/backends/upstream-json/fields.ts';
import { type Generation, since } from './generation.ts';

/** Facts for a position besides the contract's own keys. */
export interface Surroundings {
  readonly generation: Generation;
  readonly query: URLSearchParams;
  /** The transaction in the path, or else of the last item. */
  readonly transaction: () => Promise<Fields>;
  readonly last: Fields;
}

/** Writes and reads the end of a page of a list. */
export interface Position {
  /** Converts the contract's keys `next` to those of the generation. */
  write(next: Fields, around: Surroundings): Promise<Fields> | Fields;
  /** The contract's keys; undefined when upstream starts from the beginning, as it does when any key is missing. */
  read(query: URLSearchParams, around: Surroundings): Promise<Query | undefined> | Query | undefined;
  /** Every key that a generation writes. */
  names(generation: Generation): readonly string[];
}

type Query = Readonly<Record<string, string>>;

/** A position whose keys are those of the contract. */
export function plain(...names: readonly string[]): Position {
  return {
    write: next => picked(next, names),
    read: query => whole(query, names),
    names: () => names,
  };
}

/** Pending transactions, ordered by the time they were first seen, which is the same for all of them here. */
export function pending(seenAt: string): Position {
  const names = ['inserted_at', 'hash'];
  return {
    write: ({ hash }) => ({ inserted_at: seenAt, hash }),
    read: query => whole(query, names),
    names: () => names,
  };
}

/** Transactions of an address. The position also has the keys of pending transactions and of other orders. */
export const addressTransactions: Position = {
  write: (next, { last }) => ({
    ...picked(next, ['block_number', 'index']),
    inserted_at: null,
    hash: last.hash,
    value: last.value,
    fee: fieldsOf(last.fee).value,
  }),
  read: query => whole(query, ['block_number', 'index']),
  names: () => ['block_number', 'index', 'inserted_at', 'hash', 'value', 'fee'],
};

/** Logs of one transaction: 5.x needs no block for them. */
export const transactionLogs: Position = {
  write: (next, { generation, last }) =>
    since(generation, 'v6.9')
      ? picked(next, ['block_number', 'index'])
      : { index: next.index, transaction_hash: last.transaction_hash },
  async read(query, { generation, transaction }) {
    if (since(generation, 'v6.9')) return whole(query, ['block_number', 'index']);
    const keys = whole(query, ['index']);
    if (keys === undefined) return undefined;
    return { ...keys, block_number: String((await transaction()).block_number) };
  },
  names: generation =>
    since(generation, 'v6.9') ? ['block_number', 'index'] : ['index', 'transaction_hash'],
};

/** Logs of an address: 5.x adds the place of the transaction. */
export const addressLogs: Position = {
  async write(next, { generation, transaction }) {
    const place = picked(next, ['block_number', 'index']);
    return since(generation, 'v6.9')
      ? place
      : { ...place, transaction_index: (await transaction()).position };
  },
  read: query => whole(query, ['block_number', 'index']),
  names: generation =>
    since(generation, 'v6.9') ? ['block_number', 'index'] : ['block_number', 'index', 'transaction_index'],
};

/** The number of changes so far. Up to 11 there is also a key that is always null. */
export const stateChanges: Position = {
  write: ({ items_count: count }, { generation }) =>
    since(generation, 'v12') ? { state_changes_count: count } : { items_count: count, state_changes: null },
  read(query, { generation }) {
    const isNew = since(generation, 'v12');
    const keys = whole(query, isNew ? ['state_changes_count'] : ['items_count', 'state_changes']);
    const count = keys?.[isNew ? 'state_changes_count' : 'items_count'];
    return count === undefined ? undefined : { items_count: count };
  },
  names: generation =>
    since(generation, 'v12') ? ['state_changes_count'] : ['items_count', 'state_changes'],
};

/** Holders by balance. Versions after 6 add the count of transactions, which has no meaning here. */
export const coinHolders: Position = {
  write: (next, { generation }) => ({
    fetched_coin_balance: next.fetched_coin_balance,
    hash: String(next.hash).toLowerCase(),
    ...Object.fromEntries(holderCounts(generation).map(name => [name, next.transaction_count])),
  }),
  read(query, { generation }) {
    const counts = holderCounts(generation);
    const keys = whole(query, ['fetched_coin_balance', 'hash', ...counts]);
    if (keys === undefined) return undefined;
    const { fetched_coin_balance = '', hash = '' } = keys;
    return { fetched_coin_balance, hash, transaction_count: '0' };
  },
  names: generation => ['fetched_coin_balance', 'hash', ...holderCounts(generation)],
};

/**
 * Contracts by upstream's internal number. Here it is the order in which page ends were first written. Version 8 has
 * the address of the last contract instead, and keys of other orders.
 */
export function verifiedContracts(): Position {
  const ends: Query[] = [];
  return {
    write({ block_number: block, hash }, { generation }) {
      const end = { block_number: String(block), hash: String(hash) };
      const known = ends.findIndex(one => one.hash === end.hash);
      const id = known < 0 ? ends.push(end) - 1 : known;
      if (generation !== 'v8') return { smart_contract_id: id };
      return {
        hash: end.hash.toLowerCase(),
        coin_balance: null,
        transaction_count: 0,
        transactions_count: 0,
      };
    },
    read(query, { generation }) {
      if (generation !== 'v8') return ends[Number(query.get('smart_contract_id') ?? 'none')];
      return ends.find(({ hash }) => hash?.toLowerCase() === query.get('hash')?.toLowerCase());
    },
    names: generation =>
      generation === 'v8'
        ? ['hash', 'coin_balance', 'transaction_count', 'transactions_count']
        : ['smart_contract_id'],
  };
}

function holderCounts(generation: Generation): string[] {
  return since(generation, 'v8') ? ['transactions_count'] : [];
}

/** Tokens by holders. The key had another name up to 7, and 8 has both names. The other keys have no values here. */
export const tokens: Position = {
  write: ({ contract_address_hash: hash, holders_count }, { generation, last }) => ({
    contract_address_hash: String(hash).toLowerCase(),
    fiat_value: null,
    ...Object.fromEntries(holdersKeys(generation).map(name => [name, holders_count])),
    is_name_null: last.name === null,
    market_cap: null,
    name: last.name,
  }),
  read(query, { generation }) {
    const keys = whole(query, tokenKeys(generation));
    const { contract_address_hash, holder_count, holders_count = holder_count } = keys ?? {};
    return contract_address_hash === undefined || holders_count === undefined
      ? undefined
      : { contract_address_hash, holders_count };
  },
  names: tokenKeys,
};

function holdersKeys(generation: Generation): string[] {
  return [
    ...(since(generation, 'v8') ? ['holders_count'] : []),
    ...(since(generation, 'v9.3') ? [] : ['holder_count']),
  ];
}

function tokenKeys(generation: Generation): string[] {
  return [
    'contract_address_hash',
    'fiat_value',
    ...holdersKeys(generation),
    'is_name_null',
    'market_cap',
    'name',
  ];
}

/** Balances by value, which is unknown here. */
export const addressTokens: Position = {
  write: (next, { last }) => ({ fiat_value: null, id: next.id, value: last.value }),
  read(query) {
    const keys = whole(query, ['fiat_value', 'id', 'value']);
    return keys?.id === undefined ? undefined : { id: keys.id };
  },
  names: () => ['fiat_value', 'id', 'value'],
};

const FLAT = [
  'address_hash',
  'block_hash',
  'holder_count',
  'inserted_at',
  'item_type',
  'name',
  'tx_hash',
  'q',
] as const;
const KINDS = ['token', 'contract'] as const;

/** A search. Its keys are flat up to 6.9, and later have the kind of result as prefix. */
export const search: Position = {
  write(next, { generation, query }) {
    const q = query.get('q');
    const { item_type, name, address_hash } = next;
    if (!since(generation, 'v8')) {
      const unknown = { holder_count: null, block_hash: null, inserted_at: null, tx_hash: null };
      const alias = since(generation, 'v6.9') ? { transaction_hash: null } : {};
      return { ...unknown, ...alias, item_type, name, address_hash, q };
    }
    const [nameKey, addressKey, ...others] = groupOf(String(item_type));
    const unknown = Object.fromEntries(others.map(key => [key, null]));
    return { next_page_params_type: 'search', q, ...unknown, [nameKey]: name, [addressKey]: address_hash };
  },
  read(query, { generation }) {
    if (!since(generation, 'v8')) {
      const { item_type = '', name = '', address_hash = '' } = whole(query, FLAT) ?? {};
      return item_type === '' ? undefined : { item_type, name, address_hash };
    }
    for (const kind of KINDS) {
      const group = groupOf(kind);
      const [nameKey, addressKey] = group;
      const keys = whole(query, ['next_page_params_type', ...group]);
      if (keys === undefined) continue;
      return { item_type: kind, name: keys[nameKey] ?? '', address_hash: keys[addressKey] ?? '' };
    }
    return undefined;
  },
  names(generation) {
    if (since(generation, 'v8')) return ['next_page_params_type', ...KINDS, 'q'];
    return since(generation, 'v6.9') ? [...FLAT, 'transaction_hash'] : FLAT;
  },
};

function groupOf(kind: string) {
  return [`${kind}[name]`, `${kind}[address_hash]`, `${kind}[inserted_at]`, `${kind}[holder_count]`] as const;
}

const BATCH = ['batch_log_index', 'batch_block_hash', 'batch_transaction_hash', 'index_in_batch'] as const;

/** Token transfers. Since 9 a page that ends within an ERC-1155 batch has different keys. */
export const tokenTransfers: Position = {
  write(next, { generation, last }) {
    if (!since(generation, 'v9.3')) return packed(next);
    if (last.token_type !== 'ERC-1155') return picked(next, ['block_number', 'index']);
    const { log_index, block_hash, transaction_hash } = last;
    return {
      batch_log_index: log_index,
      batch_block_hash: block_hash,
      batch_transaction_hash: transaction_hash,
      index_in_batch: next.index_in_batch,
    };
  },
  async read(query, { generation, transaction }) {
    if (!since(generation, 'v9.3')) return unpacked(query);
    const { batch_log_index: index, index_in_batch } = whole(query, BATCH) ?? {};
    if (index === undefined || index_in_batch === undefined) return whole(query, ['block_number', 'index']);
    return { block_number: String((await transaction()).block_number), index, index_in_batch };
  },
  names: generation => ['block_number', 'index', ...(since(generation, 'v9.3') ? BATCH : [])],
};

/** Transfers of one token id, which is also a key. */
export const instanceTransfers: Position = {
  write: (next, { last }) => ({ ...packed(next), token_id: fieldsOf(last.total).token_id }),
  read: unpacked,
  names: () => ['block_number', 'index', 'token_id'],
};

/** More than any batch of a test has. */
const BATCH_LENGTH = 4_096;

/** Position with one number for the log and the place in its batch, for lists that have no keys of batches. */
function packed({ block_number, index, index_in_batch: inBatch }: Fields): Fields {
  return { block_number, index: Number(index) * BATCH_LENGTH + Number(inBatch ?? 0) };
}

function unpacked(query: URLSearchParams): Query | undefined {
  const { block_number, index } = whole(query, ['block_number', 'index']) ?? {};
  if (block_number === undefined || index === undefined) return undefined;
  return {
    block_number,
    index: String(Math.floor(Number(index) / BATCH_LENGTH)),
    index_in_batch: String(Number(index) % BATCH_LENGTH),
  };
}

function picked(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.map(name => [name, fields[name] ?? null]));
}

function whole(query: URLSearchParams, names: readonly string[]): Query | undefined {
  const pairs: [string, string][] = [];
  for (const name of names) {
    const value = query.get(name);
    if (value === null) return undefined;
    pairs.push([name, value]);
  }
  return Object.fromEntries(pairs);
}
