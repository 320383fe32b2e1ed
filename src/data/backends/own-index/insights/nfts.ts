import { type Address, maxUint256 } from 'viem';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { type InstanceKey, instanceName, NFT_TYPES, type NftType } from '#evm/token-id.ts';
import type { NftHoldingRow } from '#indexer/read/tokens/holdings.ts';
import type { InsightsAnswers, InsightsRequestOf } from '../../port/insights-backend.ts';
import { resolveAddress, resolveAddresses } from '../source/names.ts';
import { assertWhole, type IndexSource, missingFrom } from '../source/source.ts';
import { describeNfts, type NftDescriptions, nftKind } from './nft-metadata.ts';
import { isNftContract } from './nft-transfers.ts';

type Nft = InsightsSchemas['Nft'];

/** Maximum number of holders summed up per token, and over all tokens of an answer (Decision 218). */
const MAX_HOLDERS = 1_000;
const MAX_HOLDERS_OF_ALL = 20_000;

/** NFTs of owners and of contracts, with metadata (Decisions 218 and 219). */
export function nftRecordAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async listOwnedNfts({ query }, { signal }) {
      assertWhole(source);
      const [owners, contracts] = await Promise.all([
        resolveAddresses(source, query.owner_address),
        query.contract_address === undefined ? undefined : resolveAddresses(source, query.contract_address),
      ]);
      const pages = await Promise.all(
        owners.map(async owner => ({ owner, rows: await holdingsOf(source, { owner, contracts, query }) })),
      );
      const keys = new Map(pages.flatMap(({ rows }) => rows).map(row => [instanceName(row), row]));
      const metadataOf = await describeNfts(
        source,
        { keys: [...keys.values()], withOwners: false, ...linksOf(query) },
        signal,
      );
      return pages.flatMap(({ owner, rows }) =>
        rows.map(row => ({
          ...nft(source, { key: row, balance: row.value, metadataOf }),
          owner_addresses: [owner],
        })),
      );
    },

    async listContractNfts({ path, query }, { signal }) {
      assertWhole(source);
      const token = await resolveAddress(source, path.contract_address);
      const { limit, page } = query;
      const [known] = await reader.tokens([token]);
      const type = known?.type === 'ERC-1155' ? 'ERC-1155' : 'ERC-721';
      const keys = await reader.nfts.ofContract({ token, type, limit, offset: limit * page });
      if (keys.length === 0 && !(await isNftContract(source, token, signal)))
        throw missingFrom(source, `NFT contract ${path.contract_address}`);
      return describedNfts(source, { keys, query }, signal);
    },

    async getNft({ path, query }, { signal }) {
      assertWhole(source);
      const token = await resolveAddress(source, path.contract_address);
      const tokenId = BigInt(path.token_id);
      const held = tokenId > maxUint256 ? null : await heldInstance(source, { token, tokenId }, signal);
      if (held === null) throw missingFrom(source, `NFT ${path.token_id} of ${path.contract_address}`);
      const { key, owner } = held;
      const found = await describedNfts(source, { keys: [key], query }, signal);
      return owner === undefined || query.include_owners === 'false'
        ? found
        : found.map(one => ({ ...one, owner_addresses: [owner] }));
    },
  } satisfies InsightsAnswers;
}

type OwnedQuery = InsightsRequestOf<'listOwnedNfts'>['query'];

/** A page of an owner's NFTs, ordered by contract and id. */
async function holdingsOf(
  { reader }: IndexSource,
  {
    owner,
    contracts,
    query,
  }: { owner: Address; contracts: readonly Address[] | undefined; query: OwnedQuery },
): Promise<NftHoldingRow[]> {
  const offset = query.limit * query.page;
  const end = offset + query.limit;
  const held: NftHoldingRow[] = [];
  // Contracts are read in sequence; in parallel each could return as many rows as the whole page needs.
  for (const token of contracts?.toSorted() ?? [undefined]) {
    if (held.length === end) break;
    const { items } = await reader.nftHoldings({
      holder: owner,
      types: NFT_TYPES,
      limit: end - held.length,
      token,
    });
    held.push(...items);
  }
  return held.slice(offset);
}

interface DescribedQuery {
  readonly include_owners: string;
  readonly resolve_metadata_links: string;
}

async function describedNfts(
  source: IndexSource,
  { keys, query }: { keys: readonly InstanceKey[]; query: DescribedQuery },
  signal: AbortSignal,
): Promise<Nft[]> {
  const withOwners = query.include_owners === 'true';
  const [supplies, metadataOf] = await Promise.all([
    suppliesOf(source, keys),
    describeNfts(source, { keys, withOwners, ...linksOf(query) }, signal),
  ]);
  return keys.map((key, index) => nft(source, { key, balance: supplies[index] ?? null, metadataOf }));
}

function linksOf({ resolve_metadata_links: links }: Pick<DescribedQuery, 'resolve_metadata_links'>) {
  return { withBrowsableLinks: links !== 'false' };
}

async function suppliesOf({ reader }: IndexSource, keys: readonly InstanceKey[]): Promise<(bigint | null)[]> {
  const [first] = keys;
  if (first?.type !== 'ERC-1155') return keys.map(() => 1n);
  const most = Math.min(MAX_HOLDERS, Math.floor(MAX_HOLDERS_OF_ALL / keys.length));
  return reader.nfts.supplies(keys, most);
}

/** Finds a held token under any standard, with the owner if only its contract knows it. Null when it has no holder. */
async function heldInstance(
  { reader }: IndexSource,
  { token, tokenId }: { token: Address; tokenId: bigint },
  signal: AbortSignal,
): Promise<{ key: InstanceKey; owner?: Address } | null> {
  const keyOf = (type: NftType): InstanceKey => ({ token, tokenId, type });
  const [rows, [known], head] = await Promise.all([
    reader.tokenInstances(NFT_TYPES.map(keyOf)),
    reader.tokens([token]),
    reader.head(),
  ]);
  const held = NFT_TYPES.find((_, index) => rows[index] !== null);
  if (held !== undefined) return { key: keyOf(held) };
  if (known?.type !== 'ERC-721' || head === null) return null;
  const key = keyOf('ERC-721');
  const owner = await reader.ownerOf(key, { blockNumber: head.number, signal });
  return owner === null ? null : { key, owner };
}

function nft(
  { chainId }: IndexSource,
  { key, balance, metadataOf }: { key: InstanceKey; balance: bigint | null; metadataOf: NftDescriptions },
): Nft {
  return {
    chain_id: chainId,
    contract_address: key.token,
    token_id: key.tokenId.toString(),
    token_type: nftKind(key.type),
    balance: balance?.toString() ?? null,
    ...metadataOf(key),
  };
}
