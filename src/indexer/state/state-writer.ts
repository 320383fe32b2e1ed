import type { Address } from 'viem';
import { type Binding, bytesColumn, bytesOrNullColumn, hexOf, uintColumn } from '../../db/columns.ts';
import type { Dialect } from '../../db/dialect.ts';
import type { Handle } from '../../db/open.ts';
import { execute, type Sql } from '../../db/query.ts';
import { insertTyped, placeholders } from '../../db/rows.ts';
import type { Dirty } from '../schema/dirty-state.ts';
import { searchTerms } from '../schema/search-key.ts';
import { select } from '../schema/select.ts';
import { type IndexTables, TABLES } from '../schema/tables.ts';
import type { KnownState, OnChainState } from './read-state.ts';

/** Accounts already known as contracts, and tokens read before. */
export async function knownOf(handle: Handle, entries: readonly Dirty[]): Promise<KnownState> {
  const [accounts, tokens] = [addressesOf(entries, 'coin'), addressesOf(entries, 'token')];
  const contracts = select({ from: 'addresses', columns: ['address'] });
  const readTokens = select({ from: 'tokens', columns: ['address'] });
  return {
    contracts: await setOf(accounts, among =>
      contracts.rows(handle, `where is_contract = 1 and address in (${among})`, accounts),
    ),
    readTokens: await setOf(tokens, among =>
      readTokens.rows(handle, `where is_read = 1 and address in (${among})`, tokens),
    ),
  };
}

function addressesOf(entries: readonly Dirty[], kind: Dirty['kind']): Buffer[] {
  return entries.filter(entry => entry.kind === kind).map(entry => bytesColumn(entry.address));
}

async function setOf(
  wanted: readonly Buffer[],
  read: (among: string) => Promise<{ address: Buffer }[]>,
): Promise<Set<Address>> {
  if (wanted.length === 0) return new Set();
  const rows = await read(placeholders(wanted.length));
  return new Set(rows.map(({ address }) => hexOf(address)));
}

/** Counts a change of state without a new block, so that answers from before are not kept. */
export async function countStateReading(handle: Handle): Promise<void> {
  await execute(handle, 'update index_state set fills = fills + 1 where id = 1');
}

/** Stores readings. Empty ones (no coins and no code, a zero or unreadable balance) are not stored as rows. */
export async function writeReadings(handle: Handle, readings: readonly OnChainState[]): Promise<void> {
  const { coins, balances, instances } = rowsToWrite(readings);
  await insertTyped(handle, COINS, coins);
  await insertTyped(handle, BALANCES, balances);
  await insertTyped(handle, INSTANCES, instances);
  await writeTerms(handle, readings);
  for (const reading of readings) {
    const statement = otherStatement(handle.dialect, reading);
    if (statement !== null) await execute(handle, statement.sql, statement.bindings);
  }
}

const COINS = {
  table: 'addresses',
  columns: TABLES.addresses.columns,
  // The code of a known contract is not read again, so its reading has no proxy target.
  suffix: `on conflict (address) do update set balance = excluded.balance, is_contract = excluded.is_contract,
    implementation = case when addresses.is_contract = 1 then addresses.implementation
      else excluded.implementation end`,
};
const BALANCES = {
  table: 'token_balances',
  columns: TABLES.token_balances.columns,
  suffix: 'on conflict (token, holder, token_id) do update set value = excluded.value',
};
const INSTANCES = {
  table: 'token_instances',
  columns: TABLES.token_instances.columns,
  suffix: 'on conflict (token, token_id) do update set owner = excluded.owner',
};

function rowsToWrite(readings: readonly OnChainState[]) {
  const coins: IndexTables['addresses'][] = [];
  const balances: IndexTables['token_balances'][] = [];
  const instances: IndexTables['token_instances'][] = [];
  for (const reading of readings) {
    if (reading.kind === 'coin' && !isNothing(reading)) {
      coins.push({
        address: bytesColumn(reading.address),
        balance: uintColumn(reading.balance),
        is_contract: Number(reading.isContract),
        implementation: bytesOrNullColumn(reading.implementation),
      });
    } else if (reading.kind === 'balance' && reading.value !== null && reading.value !== 0n) {
      const { token, holder, tokenId, value } = reading;
      balances.push({
        token: bytesColumn(token),
        holder: bytesColumn(holder),
        token_id: tokenId,
        value: uintColumn(value),
      });
    } else if (reading.kind === 'instance' && reading.owner !== null) {
      const { token, tokenId, owner } = reading;
      instances.push({ token: bytesColumn(token), token_id: tokenId, owner: bytesColumn(owner) });
    }
  }
  return { coins, balances, instances };
}

function isNothing({ balance, isContract }: Extract<OnChainState, { kind: 'coin' }>): boolean {
  return balance === 0n && !isContract;
}

/** Statement for a reading that is not an upsert: a removal, or a token, whose row the block writer has inserted. */
function otherStatement(dialect: Dialect, reading: OnChainState): Sql | null {
  const numericOrNull = (value: bigint | null): Binding => (value === null ? null : dialect.numeric(value));
  switch (reading.kind) {
    case 'coin':
      if (!isNothing(reading)) return null;
      return { sql: 'delete from addresses where address = ?', bindings: [bytesColumn(reading.address)] };
    case 'balance':
      if (reading.value !== null && reading.value !== 0n) return null;
      return {
        sql: 'delete from token_balances where token = ? and holder = ? and token_id = ?',
        bindings: [bytesColumn(reading.token), bytesColumn(reading.holder), reading.tokenId],
      };
    case 'instance':
      if (reading.owner !== null) return null;
      return {
        sql: 'delete from token_instances where token = ? and token_id = ?',
        bindings: [bytesColumn(reading.token), reading.tokenId],
      };
    case 'supply':
      return {
        sql: 'update tokens set total_supply = ? where address = ?',
        bindings: [numericOrNull(reading.totalSupply), bytesColumn(reading.address)],
      };
    case 'token': {
      const { address, name, symbol, decimals, totalSupply } = reading;
      return {
        sql: `update tokens set name = ?, symbol = ?, decimals = ?, total_supply = ?, is_read = 1
          where address = ?`,
        bindings: [name, symbol, decimals, numericOrNull(totalSupply), bytesColumn(address)],
      };
    }
  }
}

type TokenReading = Extract<OnChainState, { kind: 'token' }>;

/** Stores the search terms of tokens, and replaces those of earlier readings. */
async function writeTerms(handle: Handle, readings: readonly OnChainState[]): Promise<void> {
  const tokens = readings.filter(reading => reading.kind === 'token');
  if (tokens.length === 0) return;
  await execute(
    handle,
    `delete from token_terms where token in (${placeholders(tokens.length)})`,
    tokens.map(({ address }) => bytesColumn(address)),
  );
  await insertTyped(
    handle,
    { table: 'token_terms', columns: TABLES.token_terms.columns },
    tokens.flatMap(termRows),
  );
}

/** Search terms of a token, each once. */
function termRows({ address, name, symbol }: TokenReading): IndexTables['token_terms'][] {
  const terms = new Set([name, symbol].flatMap(text => (text === null ? [] : searchTerms(text))));
  return [...terms].map(term => ({ term, token: bytesColumn(address) }));
}
