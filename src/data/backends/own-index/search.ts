import { type Address, type Hash, isAddress, isHash } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { BlockRow } from '#indexer/read/blocks/blocks.ts';
import { searchKey } from '#indexer/schema/search-key.ts';
import type { Answers } from '../port/backend.ts';
import { checksummed, microsecondTimestamp } from './parts/format.ts';
import { loadParties, type Parties } from './parts/parties.ts';
import { findTransaction } from './source/find-transaction.ts';
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

/** Search of one chain. An exact match comes first, then tokens and contracts whose names begin with the text. */
export function searchAnswers(source: IndexSource) {
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
      // An exact match is a complete answer.
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
  } satisfies Answers;
}

/** Exact part of all later pages, which contain names only. */
const NO_EXACT: ExactSearch = { match: null, isNameToo: true, isUnsettled: false };

async function exactResults(source: IndexSource, { match }: ExactSearch): Promise<Result[]> {
  if (match === null) return [];
  if (match.kind !== 'address') return [blockOrTransactionResult(match)];
  const { address } = match;
  return addressResults(address, await loadParties(source, { addresses: [address], tokens: [address] }));
}

/** Fills the page with one kind after the other. */
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

/** Fills the page with half of each kind, and more of one when the other has fewer. */
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

async function namedResults(source: IndexSource, found: readonly NamedPosition[]): Promise<Result[]> {
  const addresses = found.map(({ address }) => address);
  const tokens = found.filter(({ kind }) => kind === 'token').map(({ address }) => address);
  const parties = await loadParties(source, { addresses, tokens });
  return found.flatMap(({ kind, address }) =>
    kind === 'token' ? tokenResults(address, parties) : [addressResult(address, parties)],
  );
}

interface ExactSearch {
  /** Exact match, or null. */
  readonly match: ExactMatch | null;
  /** True when the text may also be a name. An address or a hash cannot. */
  readonly isNameToo: boolean;
  /** True when the result depends on the node's pool, which changes without a block. */
  readonly isUnsettled: boolean;
}

/** Block number as clients write it; paths use the same form (Decision 28). */
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
  // Blocks first: that look-up is cheap, while an unindexed transaction takes a request to the node.
  const row = await source.reader.blockByNumberOrHash(hash);
  if (row !== null) return { match: { kind: 'block', row }, isUnsettled: false };
  const found = await findTransaction(source, hash);
  if (found === null) return { match: null, isUnsettled: true };
  const timestamp = found.mined?.row.timestamp ?? null;
  return { match: { kind: 'transaction', hash, timestamp }, isUnsettled: found.mined === undefined };
}

/** Exact match of a search. `timestamp` is null for a pending transaction. */
type ExactMatch =
  | { readonly kind: 'address'; readonly address: Address }
  | { readonly kind: 'block'; readonly row: BlockRow }
  | { readonly kind: 'transaction'; readonly hash: Hash; readonly timestamp: number | null };

/** Priority of every result. Only the order on the page matters. */
const PRIORITY = 0;

/** Results for an address: its token, if it has one, and the address itself. */
function addressResults(address: Address, parties: Parties): Result[] {
  return [...tokenResults(address, parties), addressResult(address, parties)];
}

/** Result for a token; empty when the address is no longer a token. */
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

/** Result for a block or a transaction. An orphaned block has a page by its hash only. */
function blockOrTransactionResult(match: Exclude<ExactMatch, { kind: 'address' }>): Result {
  if (match.kind === 'transaction') {
    return {
      type: 'transaction',
      transaction_hash: match.hash,
      url: `/tx/${match.hash}`,
      timestamp: match.timestamp === null ? null : microsecondTimestamp(match.timestamp),
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
    timestamp: microsecondTimestamp(row.timestamp),
    priority: PRIORITY,
  };
}

/** Redirect to an exact match; all null without one (Decision 30). */
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
