import type { Address } from 'viem';
import { bytesColumn, bytesOrNullColumn, type Column, hexOf, uintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { insertRows, placeholders } from '../../db/rows.ts';
import { searchKey } from '../schema/search-key.ts';
import type { Dirty } from '../schema/stale-state.ts';
import type { KnownState, OnChainState } from './read-state.ts';

/** Which of the accounts are known contracts, and which of the tokens have been read before. */
export async function knownOf(handle: Handle, entries: readonly Dirty[]): Promise<KnownState> {
  const known = async (sql: string, kind: Dirty['kind']): Promise<Set<Address>> => {
    const wanted = entries.filter(entry => entry.kind === kind).map(entry => bytesColumn(entry.address));
    const rows = await handle.raw<{ address: Buffer }[]>(
      `${sql} and address in (${placeholders(wanted.length)})`,
      [...wanted],
    );
    return new Set(rows.map(({ address }) => hexOf(address)));
  };
  return {
    contracts: await known('select address from addresses where is_contract = 1', 'coin'),
    readTokens: await known('select address from tokens where is_read = 1', 'token'),
  };
}

/** Stores what was read. What says nothing (no coins and no code, a zero or unreadable balance) is no row. */
export async function writeReadings(handle: Handle, readings: readonly OnChainState[]): Promise<void> {
  for (const [into, rows] of upserts(readings)) await insertRows(handle, into, rows);
  await writeTerms(handle, readings);
  for (const reading of readings) {
    const statement = otherStatement(reading);
    if (statement !== null) await handle.raw(...statement);
  }
}

const COINS = {
  table: 'addresses',
  columns: ['address', 'balance', 'is_contract', 'implementation'],
  // A known contract is not asked for its code again, so its reading says nothing of what it points at.
  suffix: `on conflict (address) do update set balance = excluded.balance, is_contract = excluded.is_contract,
    implementation = iif(is_contract = 1, implementation, excluded.implementation)`,
};
const BALANCES = {
  table: 'token_balances',
  columns: ['token', 'holder', 'token_id', 'value'],
  suffix: 'on conflict (token, holder, token_id) do update set value = excluded.value',
};
const INSTANCES = {
  table: 'token_instances',
  columns: ['token', 'token_id', 'owner'],
  suffix: 'on conflict (token, token_id) do update set owner = excluded.owner',
};

function upserts(readings: readonly OnChainState[]) {
  const coins: Column[][] = [];
  const balances: Column[][] = [];
  const instances: Column[][] = [];
  for (const reading of readings) {
    if (reading.kind === 'coin' && !isNothing(reading)) {
      const { address, balance, isContract, implementation } = reading;
      coins.push([
        bytesColumn(address),
        uintColumn(balance),
        Number(isContract),
        bytesOrNullColumn(implementation),
      ]);
    } else if (reading.kind === 'balance' && reading.value !== null && reading.value !== 0n) {
      const { token, holder, tokenId, value } = reading;
      balances.push([bytesColumn(token), bytesColumn(holder), tokenId, uintColumn(value)]);
    } else if (reading.kind === 'instance' && reading.owner !== null) {
      instances.push([bytesColumn(reading.token), reading.tokenId, bytesColumn(reading.owner)]);
    }
  }
  return [
    [COINS, coins],
    [BALANCES, balances],
    [INSTANCES, instances],
  ] as const;
}

function isNothing({ balance, isContract }: Extract<OnChainState, { kind: 'coin' }>): boolean {
  return balance === 0n && !isContract;
}

/** What is not an upsert: removals, and tokens, whose rows the block writer has made. */
function otherStatement(reading: OnChainState): [sql: string, bindings: Column[]] | null {
  switch (reading.kind) {
    case 'coin':
      if (!isNothing(reading)) return null;
      return ['delete from addresses where address = ?', [bytesColumn(reading.address)]];
    case 'balance':
      if (reading.value !== null && reading.value !== 0n) return null;
      return [
        'delete from token_balances where token = ? and holder = ? and token_id = ?',
        [bytesColumn(reading.token), bytesColumn(reading.holder), reading.tokenId],
      ];
    case 'instance':
      if (reading.owner !== null) return null;
      return [
        'delete from token_instances where token = ? and token_id = ?',
        [bytesColumn(reading.token), reading.tokenId],
      ];
    case 'supply':
      return [
        'update tokens set total_supply = ? where address = ?',
        [uintOrNullColumn(reading.totalSupply), bytesColumn(reading.address)],
      ];
    case 'token': {
      const { address, name, symbol, decimals, totalSupply } = reading;
      return [
        'update tokens set name = ?, symbol = ?, decimals = ?, total_supply = ?, is_read = 1 where address = ?',
        [name, symbol, decimals, uintOrNullColumn(totalSupply), bytesColumn(address)],
      ];
    }
  }
}

function uintOrNullColumn(value: bigint | null): string | null {
  return value === null ? null : uintColumn(value);
}

type TokenReading = Extract<OnChainState, { kind: 'token' }>;

/** Stores under which terms the tokens among the readings are found, in place of those from an earlier reading. */
async function writeTerms(handle: Handle, readings: readonly OnChainState[]): Promise<void> {
  const tokens = readings.filter(reading => reading.kind === 'token');
  if (tokens.length === 0) return;
  await handle.raw(
    `delete from token_terms where token in (${placeholders(tokens.length)})`,
    tokens.map(({ address }) => bytesColumn(address)),
  );
  await insertRows(handle, { table: 'token_terms', columns: ['term', 'token'] }, tokens.flatMap(termRows));
}

/** A token that is called like its symbol is found once. */
function termRows({ address, name, symbol }: TokenReading): Column[][] {
  const terms = new Set([name, symbol].map(text => (text === null ? '' : searchKey(text))));
  return [...terms].filter(term => term !== '').map(term => [term, bytesColumn(address)]);
}
