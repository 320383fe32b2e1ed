import type { Address, Hash, Hex } from 'viem';
import { bytesColumn, hexOf, uintOf } from '../../db/columns.ts';
import type { Dialect } from '../../db/dialect.ts';
import type { Handle } from '../../db/open.ts';
import { placeholders } from '../../db/rows.ts';
import { type RowIn, readRows, unionAll } from '../../db/select/select.ts';
import type { Abis } from '../../evm/abi/abi.ts';
import { lowerCase } from '../../evm/address.ts';
import { select } from '../schema/select.ts';
import type { Page } from './page.ts';

/** Data shown for each address in an answer. */
export interface AddressRow {
  address: Address;
  isContract: boolean;
  /** Name of a contract with a known ABI, otherwise the token's own name, otherwise null. */
  name: string | null;
  /** Contract to which a proxy delegates its calls. */
  implementation: Address | null;
  /** Name of the implementation; null when it has none. */
  implementationName: string | null;
  /** True when the contract's sources are known. */
  isVerified: boolean;
}

/** One row per address, known or unknown, in the order of the request. */
export async function addresses(
  { handle, abis }: { handle: Handle; abis: Abis },
  wanted: readonly Address[],
): Promise<AddressRow[]> {
  if (wanted.length === 0) return [];
  const bindings = wanted.map(bytesColumn);
  const list = placeholders(wanted.length);
  const those = `where address in (${list})`;
  const rows = await readRows(
    handle,
    unionAll([
      ADDRESSES.query(handle, those, bindings),
      CONTRACTS.query(handle, those, bindings),
      TOKENS.query(handle, those, bindings),
      UPGRADES.query(handle, `where id ${lastUpgrades(handle.dialect, list)}`, bindings),
    ]),
  );
  const targets = targetsIn(rows);
  const isContract = new Set(rows.filter(row => row.is_contract === 1).map(row => row.address));
  const tokenNames = new Map(rows.flatMap(({ address, name }) => (name === null ? [] : [[address, name]])));
  for (const [target, name] of await namesOf(handle, [...targets.values()])) tokenNames.set(target, name);
  const nameOf = (address: Address) => abis.contractName(address) ?? tokenNames.get(address) ?? null;
  return wanted.map(one => {
    const key = lowerCase(one);
    const target = targets.get(key);
    return {
      address: key,
      isContract: isContract.has(key),
      name: nameOf(key),
      implementation: target ?? null,
      implementationName: target === undefined ? null : nameOf(target),
      isVerified: abis.knownContract(key)?.source !== undefined,
    };
  });
}

/** Nulls with a type, which PostgreSQL needs where other rows of a union have values. */
const NO_ADDRESS = ['hex?', 'null'] as const;
const NO_NAME = ['text?', 'cast(null as text)'] as const;

// The code of a contract in the newest blocks may not have been read yet, so other tables may know more.
const ADDRESSES = select({
  from: 'addresses',
  hex: ['address'],
  computed: {
    is_contract: ['count', 'is_contract'],
    implementation: ['hex?', 'implementation'],
    upgraded_to: NO_ADDRESS,
    name: NO_NAME,
  },
});
const CONTRACTS = select({
  from: 'contracts',
  hex: ['address'],
  computed: {
    is_contract: ['count', '1'],
    implementation: NO_ADDRESS,
    upgraded_to: NO_ADDRESS,
    name: NO_NAME,
  },
});
const TOKENS = select({
  from: 'tokens',
  hex: ['address'],
  computed: {
    is_contract: ['count', '1'],
    implementation: NO_ADDRESS,
    upgraded_to: NO_ADDRESS,
    name: ['text?', 'name'],
  },
});
/** Implementations that the events of proxies name. */
const UPGRADES = select({
  from: 'logs',
  hex: ['address'],
  computed: {
    is_contract: ['count', '0'],
    implementation: NO_ADDRESS,
    upgraded_to: ['hex?', 'substr(topic1, 13)'],
    name: NO_NAME,
  },
});

/** Names of the addresses that are tokens. */
async function namesOf(handle: Handle, addresses: readonly Address[]): Promise<[Address, string][]> {
  if (addresses.length === 0) return [];
  const rows = await select({ from: 'tokens', columns: ['address', 'name'] }).rows(
    handle,
    `where address in (${placeholders(addresses.length)})`,
    addresses.map(bytesColumn),
  );
  return rows.flatMap(({ address, name }): [Address, string][] =>
    name === null ? [] : [[hexOf(address), name]],
  );
}

/** keccak256('Upgraded(address)'). */
const UPGRADED = '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b';

/** Condition for the keys of each proxy's latest upgrade event. */
function lastUpgrades(dialect: Dialect, list: string): string {
  const isUpgrade = `k.topic0 = ${dialect.bytesLiteral(UPGRADED)}`;
  return dialect.among(
    `select (select max(id) from logs where kind = k.id) from event_kinds k
     where k.address in (${list}) and ${isUpgrade}`,
  );
}

/**
 * Implementations of the addresses that are proxies: minimal proxies (EIP-1167), and proxies with events (EIP-1967).
 */
export async function implementations(
  handle: Handle,
  addresses: readonly Address[],
): Promise<Map<Address, Address>> {
  if (addresses.length === 0) return new Map();
  const bindings = addresses.map(bytesColumn);
  const list = placeholders(addresses.length);
  const rows = await readRows(
    handle,
    unionAll([
      ADDRESSES.query(handle, `where address in (${list}) and implementation is not null`, bindings),
      UPGRADES.query(handle, `where id ${lastUpgrades(handle.dialect, list)}`, bindings),
    ]),
  );
  return targetsIn(rows);
}

/** Implementation per proxy. The proxy's code takes precedence over events, because any code can emit them. */
function targetsIn(rows: readonly RowIn<typeof ADDRESSES>[]): Map<Address, Address> {
  const targets = (column: 'implementation' | 'upgraded_to') =>
    rows.flatMap(({ address, [column]: target }): [Address, Address][] =>
      target === null ? [] : [[address, target]],
    );
  return new Map([...targets('upgraded_to'), ...targets('implementation')]);
}

/** Creation of a contract. */
interface ContractRow {
  /** Latest transaction that created it. An address can be reused after its code was destroyed. */
  transactionHash: Hash;
  /** Creator: the sender, or the contract that created it inside the transaction. */
  creator: Address;
  /** Creation code with arguments; null when it was created inside the transaction. */
  creationInput: Hex | null;
}

/** Creation of the contract at an address; null when no indexed transaction created one. */
export async function contract(handle: Handle, address: Address): Promise<ContractRow | null> {
  const [row] = await select({
    from: 'contracts c',
    join: ['transactions t on t.id = c.transaction_id'],
    columns: ['t.hash', 'c.creator', 't.input', 't.created_contract'],
  }).rows(handle, 'where c.address = ? order by c.transaction_id desc limit 1', [bytesColumn(address)]);
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

/** Address that holds coins. */
interface CoinHolderRow {
  address: Address;
  /** In wei, above zero. */
  balance: bigint;
  /** Transactions that it sent, received or was created by. */
  transactionCount: number;
}

/** Position in the list: by balance, then by address, both descending. */
export type CoinHolderPosition = Pick<CoinHolderRow, 'address' | 'balance'>;

/** Sorts after every balance and address. */
const BEHIND_ALL = { balance: 2n ** 256n - 1n, address: Buffer.alloc(21, 0xff) };

/** Addresses known to hold coins, richest first. */
export async function coinHolders(
  handle: Handle,
  { before, limit }: { before?: CoinHolderPosition | undefined; limit: number },
): Promise<Page<CoinHolderRow>> {
  const rows = await select({
    from: 'addresses a',
    columns: ['a.address', 'a.balance'],
    computed: {
      transaction_count: [
        'count?',
        '(select transactions from transaction_counts c where c.address = a.address)',
      ],
    },
  }).rows(
    handle,
    `where (a.balance, a.address) < (?, ?) and a.balance > ?
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
