import type { Address, Hash, Hex } from 'viem';
import { bytesColumn, hexOf, uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import type { Abis } from '../../evm/abi/abi.ts';
import type { IndexTables } from '../schema/columns.ts';
import type { ComputedIndexColumns } from '../schema/computed-columns.ts';
import type { Page } from './page.ts';

/** What is shown of an address wherever one appears. */
export interface AddressRow {
  address: Address;
  isContract: boolean;
  /** Name of a contract with a known ABI, else the token's own name, else null. */
  name: string | null;
  /** The same of the contract that a proxy hands its calls to; null when that is none or has no name. */
  implementationName: string | null;
  /** Whether its sources are known. */
  isVerified: boolean;
}

/** One row for each of the addresses, in their order, known or not. */
export async function addresses(
  { handle, abis }: { handle: Handle; abis: Abis },
  wanted: readonly Address[],
): Promise<AddressRow[]> {
  if (wanted.length === 0) return [];
  const bindings = wanted.map(bytesColumn);
  const list = placeholders(wanted.length);
  // A contract created in the newest blocks may not have been asked for its code yet.
  const contracts = await rowsOf<Pick<IndexTables['addresses'], 'address'>>(
    handle,
    `select address from addresses where address in (${list}) and is_contract = 1
     union all select address from contracts where address in (${list})`,
    [...bindings, ...bindings],
  );
  const targets = await implementations(handle, wanted);
  const named = [...new Set([...wanted, ...targets.values()])].map(bytesColumn);
  const tokens = await rowsOf<Pick<IndexTables['tokens'], 'address' | 'name'>>(
    handle,
    `select address, name from tokens where address in (${placeholders(named.length)})`,
    named,
  );
  const isContract = new Set(contracts.map(row => hexOf(row.address)));
  const tokenNames = new Map(tokens.map(row => [hexOf(row.address), row.name]));
  const nameOf = (address: Address) => abis.contractName(address) ?? tokenNames.get(address) ?? null;
  return wanted.map(address => {
    const key = hexOf(bytesColumn(address));
    const target = targets.get(key);
    return {
      address: key,
      isContract: isContract.has(key) || tokenNames.has(key),
      name: nameOf(key),
      implementationName: target === undefined ? null : nameOf(target),
      isVerified: abis.knownContract(key)?.source !== undefined,
    };
  });
}

/** keccak256('Upgraded(address)'). */
const UPGRADED = '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b';

/** Implementations of those of the addresses that are proxies: minimal ones (EIP-1167), and by event (EIP-1967). */
export async function implementations(
  handle: Handle,
  addresses: readonly Address[],
): Promise<Map<Address, Address>> {
  if (addresses.length === 0) return new Map();
  const bindings = addresses.map(bytesColumn);
  const list = placeholders(addresses.length);
  const { dialect } = handle;
  const minimal = await rowsOf<Pick<IndexTables['addresses'], 'address' | 'implementation'>>(
    handle,
    `select address, implementation from addresses where address in (${list}) and implementation is not null`,
    bindings,
  );
  const upgraded = await rowsOf<Pick<IndexTables['logs'], 'address' | 'topic1'>>(
    handle,
    `select l.address, l.topic1 from logs l where l.id ${dialect.among(
      `select max(id) from logs where topic0 = ${dialect.bytesLiteral(UPGRADED)} and address in (${list}) group by address`,
    )}`,
    bindings,
  );
  return new Map([
    ...upgraded.flatMap(({ address, topic1 }): [Address, Address][] =>
      topic1 === null ? [] : [[hexOf(address), hexOf(topic1.subarray(-20))]],
    ),
    ...minimal.flatMap(({ address, implementation }): [Address, Address][] =>
      implementation === null ? [] : [[hexOf(address), hexOf(implementation)]],
    ),
  ]);
}

/** How a contract came to be. */
interface ContractRow {
  /** The latest transaction that created it: an address can be used again after its code was destroyed. */
  transactionHash: Hash;
  /** Who created it: the sender, or the contract that did it inside the transaction. */
  creator: Address;
  /** The creation code with its arguments; null when it was created inside the transaction. */
  creationInput: Hex | null;
}

/** Null when no transaction in the index created a contract there. */
export async function contract(handle: Handle, address: Address): Promise<ContractRow | null> {
  const [row] = await rowsOf<
    Pick<IndexTables['transactions'], 'hash' | 'input' | 'created_contract'> &
      Pick<IndexTables['contracts'], 'creator'>
  >(
    handle,
    `select t.hash, c.creator, t.input, t.created_contract
     from contracts c ${handle.dialect.nestedJoin} transactions t on t.id = c.transaction_id
     where c.address = ? order by c.transaction_id desc limit 1`,
    [bytesColumn(address)],
  );
  if (row === undefined) return null;
  const isOutermost = row.created_contract !== null && hexOf(row.created_contract) === lower(address);
  return {
    transactionHash: hexOf(row.hash),
    creator: hexOf(row.creator),
    creationInput: isOutermost ? hexOf(row.input) : null,
  };
}

function lower(address: Address): string {
  return address.toLowerCase();
}

/** An address with coins. */
interface CoinHolderRow {
  address: Address;
  /** In wei, above zero. */
  balance: bigint;
  /** Transactions that it sent, received or was created by. */
  transactionCount: number;
}

/** The order of the list: by balance, then by address, both descending. */
export type CoinHolderPlace = Pick<CoinHolderRow, 'address' | 'balance'>;

/** Sorts behind every balance and address. */
const BEHIND_ALL = { balance: 2n ** 256n - 1n, address: Buffer.alloc(21, 0xff) };

/** Whoever is known to hold coins, the richest first. */
export async function coinHolders(
  handle: Handle,
  { before, limit }: { before?: CoinHolderPlace; limit: number },
): Promise<Page<CoinHolderRow>> {
  const rows = await rowsOf<
    Pick<IndexTables['addresses'], 'address' | 'balance'> & Pick<ComputedIndexColumns, 'transaction_count'>
  >(
    handle,
    `select a.address, a.balance,
       (select transactions from transaction_counts c where c.address = a.address) as transaction_count
     from addresses a where (a.balance, a.address) < (?, ?) and a.balance > ?
     order by a.balance desc, a.address desc limit ?`,
    [
      handle.dialect.numeric(before?.balance ?? BEHIND_ALL.balance),
      before === undefined ? BEHIND_ALL.address : bytesColumn(before.address),
      handle.dialect.numeric(0n),
      limit + 1,
    ],
  );
  const items = rows.slice(0, limit).map(row => ({
    address: hexOf(row.address),
    balance: uintOf(row.balance),
    transactionCount: row.transaction_count ?? 0,
  }));
  return { items, hasMore: rows.length > limit };
}
