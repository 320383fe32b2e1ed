import type { Address, Hash, Hex } from 'viem';
import { bytesColumn, nullableUint, uintColumn } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { placeholders } from '#db/rows.ts';
import type { RowIn } from '#db/select/select.ts';
import { ZERO_ADDRESS } from '#evm/address.ts';
import { type BlockPosition, blockStart, positionKey, positionOf } from '../../schema/block-position.ts';
import { select, selectWith } from '../../schema/select.ts';
import { TOKEN_TYPES, type TokenType, tokenTypeColumn, tokenTypeOf } from '../../schema/transaction-types.ts';
import { columnsOf, type Direction } from '../address-sides.ts';
import {
  type Branch,
  EVERYTHING,
  type ForwardPageRequest,
  type KeyQuery,
  type Page,
  type PageRequest,
  pageOf,
  rowsInKeyOrder,
} from '../page.ts';
import { firstNotBefore, lastNotAfter, type TransferPosition } from './transfer-position.ts';

/** Transfer of one token, or of one id of a batch. Times are UTC milliseconds. */
export interface TokenTransferRow {
  blockNumber: number;
  /** Position among the block's token transfers. */
  index: number;
  blockHash: Hash;
  timestamp: number;
  transactionHash: Hash;
  transactionIndex: number;
  logIndex: number;
  /** Position in an ERC-1155 batch, otherwise 0. */
  batchIndex: number;
  /** Selector of the transaction's method. */
  selector: Hex | null;
  token: Address;
  tokenType: TokenType;
  from: Address;
  to: Address;
  /** Null for ERC-20. */
  tokenId: bigint | null;
  /** In the token's smallest unit; null for ERC-721. */
  amount: bigint | null;
  type: 'token_minting' | 'token_burning' | 'token_transfer';
}

export interface TokenTransferQuery extends Omit<PageRequest, 'before'> {
  /** Only transfers before this position; the newest when absent. */
  before?: TransferPosition | undefined;
  blockNumber?: number;
  /** Transfers from or to an address. */
  ofAddress?: { readonly address: Address; readonly direction?: Direction };
  /** Transfers of this token. Without `ofAddress`, `types` is ignored. */
  token?: Address | undefined;
  /** Transfers of this id of the token. */
  tokenId?: bigint;
  /** Transfers of one of these types. */
  types?: readonly TokenType[] | undefined;
}

export interface TransactionTransferQuery extends Omit<ForwardPageRequest, 'after'> {
  /** Only transfers after this position; the first when absent. */
  after?: TransferPosition | undefined;
  transactionHash: Hash;
  /** Transfers of one of these types. */
  types?: readonly TokenType[] | undefined;
}

/** Token transfers, newest first. */
export async function tokenTransfers(
  handle: Handle,
  query: TokenTransferQuery,
): Promise<Page<TokenTransferRow>> {
  const { types, ofAddress, token, tokenId, before, ...page } = query;
  const branches = await branchesOf(handle, { types, ofAddress, token, tokenId });
  const end = before && (await firstNotBefore(handle, before));
  return transferPage(handle, { branches, before: end, ...page });
}

const SIDES = { from: ['from_number'], to: ['to_number'] } as const;

/** Index ranges of a query. There are none for an address that no transfer has. */
async function branchesOf(
  handle: Handle,
  { types, ofAddress, token, tokenId }: Filters,
): Promise<readonly Branch[]> {
  const [party, ofToken] = await Promise.all(
    [ofAddress?.address, token].map(address => address && partyNumber(handle, address)),
  );
  if (party === null || ofToken === null) return [];
  if (ofToken !== undefined && tokenId !== undefined)
    return [{ columns: ['token_number', 'token_id'], values: [ofToken, uintColumn(tokenId)] }];
  if (party === undefined && ofToken !== undefined) return [{ columns: ['token_number'], values: [ofToken] }];
  if (party === undefined) return types === undefined ? [EVERYTHING] : ofTypes([EVERYTHING], types);
  const branches = columnsOf(ofAddress?.direction, SIDES).map(column =>
    ofToken === undefined
      ? { columns: [column], values: [party] }
      : { columns: [column, 'token_number'], values: [party, ofToken] },
  );
  return ofTypes(branches, types ?? TOKEN_TYPES);
}

interface Filters {
  readonly types: TokenTransferQuery['types'] | undefined;
  readonly ofAddress: TokenTransferQuery['ofAddress'] | undefined;
  readonly token: Address | undefined;
  readonly tokenId: bigint | undefined;
}

/** Number of an address in transfers; null for an address without transfers. */
export async function partyNumber(handle: Handle, address: Address): Promise<number | null> {
  const [row] = await PARTY.rows(handle, 'where address = ?', [bytesColumn(address)]);
  return row?.id ?? null;
}

const PARTY = select({ from: 'transfer_parties', columns: ['id'] });

/** Combines each branch with each type. */
function ofTypes(branches: readonly Branch[], types: readonly TokenType[]): Branch[] {
  return branches.flatMap(({ columns, values }) =>
    typeColumnsOf(types).map(type => ({ columns: [...columns, 'token_type'], values: [...values, type] })),
  );
}

/**
 * Condition on types. The unary plus keeps SQLite from using an index over types, which would scan all transfers of a
 * type.
 */
function onlyOfTypes(types: readonly TokenType[] | undefined): Pick<Branch, 'only'> {
  if (types === undefined) return {};
  const wanted = typeColumnsOf(types);
  return { only: { sql: `+token_type in (${placeholders(wanted.length)})`, bindings: wanted } };
}

/** Token transfers of one transaction, in order. Empty when the transaction is unknown. */
export async function tokenTransfersOf(
  handle: Handle,
  query: TransactionTransferQuery,
): Promise<Page<TokenTransferRow>> {
  const { transactionHash, types, after, limit } = query;
  const [row] = await RANGE.rows(handle, 'where hash = ?', [bytesColumn(transactionHash)]);
  if (row === undefined || row.first_transfer === null) return { items: [], hasMore: false };
  const { blockNumber } = positionOf(row.id);
  const first = positionKey({ blockNumber, index: row.first_transfer });
  const seen = after && (await lastNotAfter(handle, after));
  const from = seen === undefined ? first : Math.max(first, positionKey(seen) + 1);
  return transferPage(handle, {
    branches: [{ ...EVERYTHING, ...onlyOfTypes(types) }],
    blockNumber,
    after: from === blockStart(blockNumber) ? undefined : positionOf(from - 1),
    before: positionOf(first + (row.token_transfer_count ?? 0)),
    forward: true,
    limit,
  });
}

const RANGE = select({ from: 'transactions', columns: ['id', 'first_transfer', 'token_transfer_count'] });

function typeColumnsOf(types: readonly TokenType[]): number[] {
  return [...new Set(types.map(tokenTypeColumn))];
}

async function transferPage(handle: Handle, query: Omit<KeyQuery, 'table'>): Promise<Page<TokenTransferRow>> {
  const page = await pageOf(handle, { table: 'token_transfers', ...query }, isAmong =>
    TRANSFER.rows(handle, `where x.id ${isAmong.sql}`, isAmong.bindings),
  );
  return { ...page, items: page.items.map(transferOf) };
}

/**
 * First token transfers of each transaction, in order. The transfers of one transaction have consecutive keys, so the
 * first key bounds the read even for a transaction with thousands.
 */
export async function firstTokenTransfers(
  handle: Handle,
  { transactions, limit }: { transactions: readonly BlockPosition[]; limit: number },
): Promise<TokenTransferRow[]> {
  if (transactions.length === 0) return [];
  const keys = transactions.map(positionKey);
  const found = TRANSACTION.query(handle, `where t.id in (${placeholders(keys.length)})`, keys);
  const rows = await selectWith<{ found: RowIn<typeof TRANSACTION> }>()({
    with: `with found as materialized (${found.sql})`,
    from: 'found',
    join: [
      // Only ranges: for an equality, PostgreSQL hashes the whole table.
      `token_transfers x on x.id >= found.first_transfer and x.id < found.first_transfer + ?
       and x.transaction_id >= found.transaction_key and x.transaction_id <= found.transaction_key`,
    ],
    hex: ['x.*'],
    columns: [
      'found.transaction_hash',
      'found.transaction_index',
      'found.selector',
      'found.timestamp',
      'found.block_hash',
    ],
  }).rows(handle, '', [...found.bindings, limit]);
  return rows.sort((a, b) => a.id - b.id).map(transferOf);
}

/** Transfers with these keys, in the order of the keys. */
export async function transfersAt(handle: Handle, keys: readonly number[]): Promise<TokenTransferRow[]> {
  if (keys.length === 0) return [];
  const rows = await TRANSFER.rows(handle, `where x.id in (${placeholders(keys.length)})`, keys);
  return rowsInKeyOrder(keys, rows).map(transferOf);
}

const TRANSACTION_INDEX = ['count', 't.id & 1048575'] as const;

const TRANSFER = select({
  from: 'token_transfers x',
  join: ['transactions t on t.id = x.transaction_id', 'blocks b on b.number = x.id >> 20'],
  hex: ['x.*', 't.hash as transaction_hash', 't.selector', 'b.hash as block_hash'],
  columns: ['t.timestamp'],
  computed: { transaction_index: TRANSACTION_INDEX },
});

/** Transaction with the key of its first transfer. */
const TRANSACTION = select({
  from: 'transactions t',
  join: ['blocks b on b.number = t.id >> 20'],
  hex: ['t.hash as transaction_hash', 't.selector', 'b.hash as block_hash'],
  columns: ['t.id as transaction_key', 't.timestamp'],
  computed: {
    transaction_index: TRANSACTION_INDEX,
    first_transfer: ['count?', '(t.id >> 20 << 20) + t.first_transfer'],
  },
});

function transferOf(row: RowIn<typeof TRANSFER>): TokenTransferRow {
  const { from_address: from, to_address: to } = row;
  return {
    ...positionOf(row.id),
    blockHash: row.block_hash,
    timestamp: row.timestamp,
    transactionHash: row.transaction_hash,
    transactionIndex: row.transaction_index,
    logIndex: row.log_index,
    batchIndex: row.batch_index,
    selector: row.selector,
    token: row.token,
    tokenType: tokenTypeOf(row.token_type),
    from,
    to,
    tokenId: nullableUint(row.token_id),
    amount: nullableUint(row.amount),
    type: from === ZERO_ADDRESS ? 'token_minting' : to === ZERO_ADDRESS ? 'token_burning' : 'token_transfer',
  };
}
