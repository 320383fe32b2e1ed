import { type Address, type Hash, isAddress, isHash } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { BlockRow } from '#indexer/read/blocks/blocks.ts';
import { searchKey } from '#indexer/schema/search-key.ts';
import type { Answers } from '../port/backend.ts';
import { checksummed, timestamp } from './parts/format.ts';
import { loadParties, type Parties } from './parts/parties.ts';
import { findTransaction } from './source/mined.ts';
import {
  cursorPosition,
  NAMED_KINDS,
  type NamedPosition,
  type SearchPosition,
  searchPosition,
} from './source/search-position.ts';
import {
  assertCaughtUp,
  assertNotCutOff,
  cursorFields,
  type IndexSource,
  PAGE_SIZE,
} from './source/source.ts';

type Result = ExplorerSchemas['SearchItem'];

/** The search of one chain: what a text names outright, then tokens and contracts whose names begin with it. */
export function searchAnswers(
  source: IndexSource,
): Pick<Answers, 'search' | 'quickSearch' | 'searchRedirect'> {
  return {
    async search({ query }, { position }) {
      assertCaughtUp(source);
      const text = (query.q ?? '').trim();
      const at = searchPosition(position, query, searchKey);
      const exact = at.after === undefined ? await exactSearch(source, text) : NO_EXACT;
      const first = await exactResults(source, exact);
      const { found, hasMore } = exact.isNameToo
        ? await namedPage(source, at, PAGE_SIZE - first.length)
        : { found: [], hasMore: false };
      // What a text names outright is what was searched for.
      if (exact.match === null) assertNotCutOff(source, { hasMore });
      const items = [...first, ...(await namedResults(source, found))];
      const last = found.at(-1);
      return {
        ...(exact.isUnsettled ? { unsettled: true as const } : {}),
        body: {
          items,
          next_page_params:
            hasMore && last !== undefined
              ? {
                  q: query.q ?? at.prefix,
                  item_type: last.kind,
                  name: last.term,
                  address_hash: last.address,
                  items_count: items.length,
                  ...cursorFields(source, cursorPosition(last, at.prefix)),
                }
              : null,
        },
      };
    },

    async quickSearch({ query }) {
      assertCaughtUp(source);
      const text = (query.q ?? '').trim();
      const exact = await exactSearch(source, text);
      const first = await exactResults(source, exact);
      const { found, hasMore } = exact.isNameToo
        ? await balancedNames(source, text, PAGE_SIZE - first.length)
        : { found: [], hasMore: false };
      if (exact.match === null) assertNotCutOff(source, { hasMore });
      return {
        ...(exact.isUnsettled ? { unsettled: true as const } : {}),
        body: [...first, ...(await namedResults(source, found))],
      };
    },

    async searchRedirect({ query }) {
      assertCaughtUp(source);
      const { match, isUnsettled } = await exactSearch(source, (query.q ?? '').trim());
      assertNotCutOff(source, { hasMore: match !== null });
      return { ...(isUnsettled ? { unsettled: true as const } : {}), body: redirectRecord(match) };
    },
  };
}

/** Behind the first page there are names only. */
const NO_EXACT: ExactSearch = { match: null, isNameToo: true, isUnsettled: false };

async function exactResults({ reader }: IndexSource, { match }: ExactSearch): Promise<Result[]> {
  if (match === null) return [];
  if (match.kind !== 'address') return [blockOrTransactionResult(match)];
  const { address } = match;
  return addressResults(address, await loadParties(reader, { addresses: [address], tokens: [address] }));
}

/** As many as fit, kind after kind. */
async function namedPage(
  { reader }: IndexSource,
  { prefix, after }: SearchPosition,
  room: number,
): Promise<{ found: NamedPosition[]; hasMore: boolean }> {
  const found: NamedPosition[] = [];
  const start = after === undefined ? 0 : NAMED_KINDS.indexOf(after.kind);
  for (const kind of NAMED_KINDS.slice(start)) {
    const left = room - found.length;
    const query = { prefix, limit: Math.max(1, left), ...(after?.kind === kind ? { after } : {}) };
    const page = await (kind === 'token' ? reader.tokensNamed(query) : reader.contractsNamed(query));
    found.push(...page.items.slice(0, left).map(entry => ({ kind, ...entry })));
    if (page.hasMore || page.items.length > left) return { found, hasMore: true };
  }
  return { found, hasMore: false };
}

/** As many as fit: half of each kind, and more of one where the other leaves room. */
async function balancedNames(
  { reader }: IndexSource,
  prefix: string,
  room: number,
): Promise<{ found: NamedPosition[]; hasMore: boolean }> {
  const query = { prefix, limit: room };
  const [tokens, contracts] = await Promise.all([reader.tokensNamed(query), reader.contractsNamed(query)]);
  const half = Math.floor(room / 2);
  const contractCount = Math.min(contracts.items.length, Math.max(half, room - tokens.items.length));
  const found = [
    ...tokens.items.slice(0, room - contractCount).map(entry => ({ kind: 'token' as const, ...entry })),
    ...contracts.items.slice(0, contractCount).map(entry => ({ kind: 'contract' as const, ...entry })),
  ];
  const isCut = tokens.items.length + contracts.items.length > found.length;
  return { found, hasMore: isCut || tokens.hasMore || contracts.hasMore };
}

async function namedResults({ reader }: IndexSource, found: readonly NamedPosition[]): Promise<Result[]> {
  const addresses = found.map(({ address }) => address);
  const tokens = found.filter(({ kind }) => kind === 'token').map(({ address }) => address);
  const parties = await loadParties(reader, { addresses, tokens });
  return found.flatMap(({ kind, address }) =>
    kind === 'token' ? tokenResults(address, parties) : [addressResult(address, parties)],
  );
}

interface ExactSearch {
  /** The one thing that is meant, or null. */
  readonly match: ExactMatch | null;
  /** Whether the text could be a name as well: an address or a hash is nothing else. */
  readonly isNameToo: boolean;
  /** Whether the node's pool had a part in it, which changes without a block. */
  readonly isUnsettled: boolean;
}

/** A height as clients write it; Decision 28 has the same for paths. */
const HEIGHT = /^(0|[1-9][0-9]{0,17})$/;

/** Looks up a text that is an address, a hash or a height. */
async function exactSearch(source: IndexSource, text: string): Promise<ExactSearch> {
  const { reader } = source;
  const hex = text.toLowerCase();
  if (isAddress(hex, { strict: false })) {
    const match = (await reader.isOnChain(hex)) ? ({ kind: 'address', address: hex } as const) : null;
    return { match, isNameToo: false, isUnsettled: false };
  }
  if (isHash(hex)) return { ...(await byHash(source, hex)), isNameToo: false };
  const row = HEIGHT.test(text) ? await reader.blockByNumberOrHash(Number(text)) : null;
  return { match: row === null ? null : { kind: 'block', row }, isNameToo: true, isUnsettled: false };
}

async function byHash(source: IndexSource, hash: Hash): Promise<Pick<ExactSearch, 'match' | 'isUnsettled'>> {
  // A block first: it costs nothing, and for a transaction that is not in the index the node is asked.
  const row = await source.reader.blockByNumberOrHash(hash);
  if (row !== null) return { match: { kind: 'block', row }, isUnsettled: false };
  const found = await findTransaction(source, hash);
  if (found === null) return { match: null, isUnsettled: true };
  const timestamp = found.mined?.row.timestamp ?? null;
  return { match: { kind: 'transaction', hash, timestamp }, isUnsettled: found.mined === undefined };
}

/** What a search names outright. `timestamp` is null while the transaction waits. */
type ExactMatch =
  | { readonly kind: 'address'; readonly address: Address }
  | { readonly kind: 'block'; readonly row: BlockRow }
  | { readonly kind: 'transaction'; readonly hash: Hash; readonly timestamp: number | null };

/** Nothing weighs more than anything else: the order of a page is all there is. */
const PRIORITY = 0;

/** What an address is to a search: a token, if it is one, and itself. */
function addressResults(address: Address, parties: Parties): Result[] {
  return [...tokenResults(address, parties), addressResult(address, parties)];
}

/** A token; none when there is no token at the address any more. */
function tokenResults(address: Address, parties: Parties): Result[] {
  const token = parties.token(address);
  if (token === null) return [];
  return [
    {
      type: 'token',
      name: token.name,
      symbol: token.symbol,
      address_hash: token.address,
      token_type: token.type,
      token_url: `/token/${token.address}`,
      address_url: `/address/${token.address}`,
      icon_url: token.icon_url,
      is_smart_contract_verified: parties.address(address).is_verified,
      is_verified_via_admin_panel: null,
      exchange_rate: token.exchange_rate,
      total_supply: token.total_supply,
      circulating_market_cap: token.circulating_market_cap,
      priority: PRIORITY,
    },
  ];
}

function addressResult(address: Address, parties: Parties): Result {
  const { name, is_contract: isContract, is_verified: isVerified } = parties.address(address);
  return {
    type: isContract === true ? 'contract' : 'address',
    name,
    address_hash: checksummed(address),
    url: `/address/${checksummed(address)}`,
    is_smart_contract_verified: isVerified,
    ens_info: null,
    priority: PRIORITY,
  };
}

/** A block or a transaction; an orphaned block has a page by its hash only. */
function blockOrTransactionResult(match: Exclude<ExactMatch, { kind: 'address' }>): Result {
  if (match.kind === 'transaction') {
    return {
      type: 'transaction',
      transaction_hash: match.hash,
      url: `/tx/${match.hash}`,
      timestamp: match.timestamp === null ? null : timestamp(match.timestamp),
      priority: PRIORITY,
    };
  }
  const { row } = match;
  return {
    type: 'block',
    block_number: row.number,
    block_hash: row.hash,
    block_type: row.isCanonical ? 'block' : 'reorg',
    url: `/block/${row.isCanonical ? row.number : row.hash}`,
    timestamp: timestamp(row.timestamp),
    priority: PRIORITY,
  };
}

/** Where a search that names one thing leads; nulls where it names none. Decision 30. */
function redirectRecord(match: ExactMatch | null): ExplorerSchemas['SearchRedirect'] {
  if (match === null) return { redirect: false, type: null, parameter: null };
  switch (match.kind) {
    case 'address':
      return { redirect: true, type: 'address', parameter: checksummed(match.address) };
    case 'block':
      return { redirect: true, type: 'block', parameter: match.row.hash };
    case 'transaction':
      return { redirect: true, type: 'transaction', parameter: match.hash };
  }
}
