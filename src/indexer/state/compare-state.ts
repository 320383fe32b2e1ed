import { numberToHex } from 'viem';
import { bytesColumn, hexOf, nullableUint, uintOf } from '../../db/columns.ts';
import type { Db } from '../../db/open.ts';
import type { ChainClient } from '../../node/client.ts';
import { NodeFailure, WrongChain } from '../../node/transport/errors.ts';
import { type Dirty, isDirty } from '../schema/dirty-state.ts';
import { readHead } from '../schema/head.ts';
import { select } from '../schema/select.ts';
import { type OnChainState, stateReader } from './read-state.ts';
import { knownOf } from './state-writer.ts';

/** State whose value in the index is wrong. The values are for people. */
export interface StateDifference {
  readonly entry: Dirty;
  /** The entry, for people. */
  readonly subject: string;
  readonly indexed: string;
  /** The right value, and where it is from. */
  readonly expected: string;
}

/** Result of a comparison. */
export interface Compared {
  readonly differences: readonly StateDifference[];
  /** Number of entries that the node did not give. */
  readonly unread: number;
}

/**
 * Compares entries of the index with the node, at the index's head. Entries that wait to be read again are no
 * difference. The writer of the index may go on meanwhile: a difference counts when a second comparison has the same.
 * @throws when the node is away, or does not have the head of the index
 */
export async function compareState(
  { db, client }: { db: Db; client: ChainClient },
  entries: readonly Dirty[],
): Promise<Compared> {
  const first = await compareOnce({ db, client }, entries);
  if (first.differences.length === 0) return first;
  const second = await compareOnce(
    { db, client },
    first.differences.map(({ entry }) => entry),
  );
  const seen = new Set(first.differences.map(textOf));
  return {
    differences: second.differences.filter(one => seen.has(textOf(one))),
    unread: first.unread + second.unread,
  };
}

function textOf({ entry, indexed, expected }: StateDifference): string {
  return [...Object.values(entry), indexed, expected].join();
}

/** Attempts to compare at one head while the index moves. */
const MAX_ATTEMPTS = 5;

async function compareOnce(
  { db, client }: { db: Db; client: ChainClient },
  entries: readonly Dirty[],
): Promise<Compared> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const head = await readHead(db);
    if (head === null) return { differences: [], unread: 0 };
    // With the gas of a later read: a first read would refuse calls that need more.
    const read = stateReader(client, head.number, await knownOf(db, entries));
    const results = await Promise.allSettled(entries.map(entry => read({ ...entry, attempts: 1 })));
    const header = await client.request({
      method: 'eth_getBlockByNumber',
      params: [numberToHex(head.number), false],
    });
    if (header?.hash === head.hash) return judged(db, entries, results);
  }
  throw new Error('The node does not have the newest block of the index.');
}

async function judged(
  db: Db,
  entries: readonly Dirty[],
  results: readonly PromiseSettledResult<OnChainState>[],
): Promise<Compared> {
  const differences: StateDifference[] = [];
  let unread = 0;
  for (const [at, entry] of entries.entries()) {
    const result = results[at];
    if (result === undefined) continue;
    if (result.status === 'rejected') {
      const { reason } = result;
      if (reason instanceof NodeFailure || reason instanceof WrongChain) throw reason;
      unread += 1;
      continue;
    }
    const onChain = chainValue(result.value);
    const indexed = await indexedValue(db, entry);
    if (onChain === indexed || (await isDirty(db, entry))) continue;
    differences.push({ entry, subject: subjectOf(entry), indexed, expected: `${onChain} on the chain` });
  }
  return { differences, unread };
}

function subjectOf({ kind, address, holder, tokenId }: Dirty): string {
  const id = tokenId === '' ? '' : ` id ${tokenId.slice(2)}`;
  const subjects = {
    coin: `coins of ${address}`,
    token: `token ${address}`,
    balance: `balance of ${holder} in token ${address}${id}`,
    instance: `owner of token ${address}${id}`,
  };
  return subjects[kind];
}

const NONE = 'none';
const UNREAD = 'not read';

function chainValue(state: OnChainState): string {
  switch (state.kind) {
    case 'coin':
      return coinText(state.balance, state.isContract);
    case 'token':
      return 'a token';
    case 'supply':
      return String(state.totalSupply ?? NONE);
    case 'balance':
      return String(state.value ?? 0n);
    case 'instance':
      return state.owner ?? NONE;
  }
}

function coinText(balance: bigint, isContract: boolean): string {
  return isContract ? `${balance}, a contract` : String(balance);
}

/** Value of an entry in the index, in the same form. */
async function indexedValue(db: Db, { kind, address, holder, tokenId }: Dirty): Promise<string> {
  const key = bytesColumn(address);
  switch (kind) {
    case 'coin': {
      const coins = select({ from: 'addresses', columns: ['balance', 'is_contract'] });
      const [row] = await coins.rows(db, 'where address = ?', [key]);
      return row === undefined ? '0' : coinText(uintOf(row.balance), row.is_contract === 1);
    }
    case 'token': {
      const tokens = select({ from: 'tokens', columns: ['total_supply', 'is_read'] });
      const [row] = await tokens.rows(db, 'where address = ?', [key]);
      return row?.is_read === 1 ? String(nullableUint(row.total_supply) ?? NONE) : UNREAD;
    }
    case 'balance': {
      const balances = select({ from: 'token_balances', columns: ['value'] });
      const bindings = [key, bytesColumn(holder), tokenId];
      const [row] = await balances.rows(db, 'where token = ? and holder = ? and token_id = ?', bindings);
      return row === undefined ? '0' : String(uintOf(row.value));
    }
    case 'instance': {
      const instances = select({ from: 'token_instances', columns: ['owner'] });
      const [row] = await instances.rows(db, 'where token = ? and token_id = ?', [key, tokenId]);
      return row === undefined ? NONE : hexOf(row.owner);
    }
  }
}
