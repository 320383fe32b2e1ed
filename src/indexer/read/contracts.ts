import type { Abi, Address } from 'viem';
import { bytesColumn, hexOf, uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { placeholders } from '../../db/rows.ts';
import { readRows, unionAll } from '../../db/select/select.ts';
import type { Abis, ContractSource } from '../../evm/abi/abi.ts';
import { blockStart } from '../schema/block-position.ts';
import { searchKey } from '../schema/search-key.ts';
import { select } from '../schema/select.ts';

/** Contract on the chain with known sources. */
export interface VerifiedContract {
  address: Address;
  abi: Abi;
  source: ContractSource;
  /** Number of the block that created it; 0 when unknown. */
  blockNumber: number;
}

/** Filter of a list of contracts. */
export interface ContractFilter {
  /** Part of the name or of the address. Ignores letter case. */
  text?: string;
  language?: ContractSource['language'];
}

/** Maximum addresses per statement. The operator configures the contracts, so their number has no limit. */
const CONTRACTS_PER_STATEMENT = 500;

/**
 * Contracts with sources from the operator that are or were on the chain.
 * Newest first by the block of their creation, then by address.
 */
export async function verifiedContracts(
  { handle, abis }: { handle: Handle; abis: Abis },
  filter: ContractFilter = {},
): Promise<VerifiedContract[]> {
  const known = knownSources(abis, filter);
  const blocks = await creations(handle, [...known.keys()]);
  return [...known]
    .flatMap(([address, { abi, source }]) => {
      const blockNumber = blocks.get(address);
      return blockNumber === undefined ? [] : [{ address, abi, source, blockNumber }];
    })
    .sort((a, b) => b.blockNumber - a.blockNumber || (a.address < b.address ? -1 : 1));
}

function knownSources(abis: Abis, { text = '', language }: ContractFilter) {
  const [name, digits] = [searchKey(text), text.trim().toLowerCase()];
  const known = new Map<Address, { abi: Abi; source: ContractSource }>();
  for (const contract of abis.namedContracts()) {
    const address = hexOf(bytesColumn(contract.address));
    const { abi, source } = abis.knownContract(address) ?? {};
    if (abi === undefined || source === undefined) continue;
    if (language !== undefined && source.language !== language) continue;
    const isNamed = name !== '' && searchKey(contract.name).includes(name);
    if (digits === '' || isNamed || address.includes(digits)) known.set(address, { abi, source });
  }
  return known;
}

/** Creation block of each address that is a contract; 0 when unknown. */
async function creations(handle: Handle, addresses: readonly Address[]): Promise<Map<Address, number>> {
  const blocks = new Map<Address, number>();
  for (let first = 0; first < addresses.length; first += CONTRACTS_PER_STATEMENT) {
    const part = addresses.slice(first, first + CONTRACTS_PER_STATEMENT).map(bytesColumn);
    const those = `where address in (${placeholders(part.length)})`;
    const rows = await readRows(
      handle,
      unionAll([
        select({
          from: 'addresses',
          columns: ['address'],
          computed: { created_in: ['count', '0'] },
        }).query(handle, `${those} and is_contract = 1`, part),
        select({
          from: 'contracts',
          columns: ['address'],
          computed: { created_in: ['count', 'transaction_id >> 20'] },
        }).query(handle, those, part),
      ]),
    );
    for (const { address, created_in: block } of rows) {
      const key = hexOf(address);
      blocks.set(key, Math.max(block, blocks.get(key) ?? 0));
    }
  }
  return blocks;
}

/** Balance and transaction count of an address. */
export interface AddressFigures {
  /** In wei. */
  balance: bigint;
  /** Transactions that it sent, received or was created by. */
  transactionCount: number;
}

/**
 * Figures of the addresses of one page, without those that have none. A destroyed contract has no balance but keeps its
 * transactions.
 */
export async function addressFigures(
  handle: Handle,
  addresses: readonly Address[],
): Promise<Map<Address, AddressFigures>> {
  if (addresses.length === 0) return new Map();
  const those = `address in (${placeholders(addresses.length)})`;
  const keys = addresses.map(bytesColumn);
  const [balances, counts] = await Promise.all([
    select({ from: 'addresses', columns: ['address', 'balance'] }).rows(handle, `where ${those}`, keys),
    select({ from: 'transaction_counts', columns: ['address', 'transactions'] }).rows(
      handle,
      `where ${those}`,
      keys,
    ),
  ]);
  const figures = new Map<Address, AddressFigures>(
    counts.map(row => [hexOf(row.address), { balance: 0n, transactionCount: row.transactions }]),
  );
  for (const row of balances) {
    const address = hexOf(row.address);
    const transactionCount = figures.get(address)?.transactionCount ?? 0;
    figures.set(address, { balance: uintOf(row.balance), transactionCount });
  }
  return figures;
}

/**
 * Number of contracts created in blocks later than `time` (UTC milliseconds), as far as transactions and traces show.
 * Null above `most`.
 */
export async function createdSince(
  handle: Handle,
  { time, most }: { time: number; most: number },
): Promise<number | null> {
  const [first] = await select({ from: 'blocks', columns: ['number'] }).rows(
    handle,
    'where timestamp > ? order by timestamp limit 1',
    [time],
  );
  if (first === undefined) return 0;
  const [row] = await select({ computed: { row_count: ['count', 'count(*)'] } }).rows(
    handle,
    `from (select 1 from contracts where transaction_id >= ? order by transaction_id limit ?) as found`,
    [blockStart(first.number), most + 1],
  );
  const count = row?.row_count ?? 0;
  return count > most ? null : count;
}
