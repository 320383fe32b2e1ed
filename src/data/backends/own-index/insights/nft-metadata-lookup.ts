import type { Address } from 'viem';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import type { InstanceKey } from '#evm/token-id.ts';
import type { NftTransferRow } from '#indexer/read/tokens/nft-transfers.ts';
import { type FetchedDocument, INSIDE_ONLY, type MetadataDocuments } from '../source/metadata-documents.ts';
import type { IndexSource } from '../source/source.ts';
import { nftCollection, nftContract, nftMetadata, type TokenDescription } from './nft-metadata.ts';

type NftMetadata = InsightsSchemas['NftMetadata'];

/** What an answer waits for contracts and hosts: what comes later is there for the next one. */
const PATIENCE_MS = 3_000;
/** The most that the documents of one answer may add up to, in characters. Most tokens have a few hundred. */
const MAX_CHARACTERS = 8 * 2 ** 20;
/** Decision 91. */
const MAX_OWNERS = 1_000;

export interface DescribeRequest {
  readonly token: Address;
  readonly rows: readonly NftTransferRow[];
  readonly withOwners: boolean;
  readonly withBrowsableLinks: boolean;
}

const PENDING: FetchedDocument = { status: 'pending' };

/** The metadata of each id among the rows. Contracts and hosts that do not answer in time are `pending`. */
export async function describeNfts(
  source: IndexSource,
  { token, rows, withOwners, withBrowsableLinks }: DescribeRequest,
  signal: AbortSignal,
): Promise<(tokenId: bigint) => NftMetadata | undefined> {
  const { reader, documents = INSIDE_ONLY } = source;
  const keys = keysOf(rows);
  const [[known], owners, described] = await Promise.all([
    reader.tokens([token]),
    withOwners ? reader.nfts.owners(keys, MAX_OWNERS) : [],
    describe(source, { token, keys, documents }, signal),
  ]);
  const shown = withBrowsableLinks ? documents.browsable : (link: string) => link;
  const collection = nftCollection(described.contract, known, shown);
  const byId = new Map(
    keys.map(({ tokenId, type }, place): [bigint, NftMetadata] => {
      const kind = type === 'ERC-1155' ? 'erc1155' : 'erc721';
      return [
        tokenId,
        {
          ...nftMetadata(described.instances[place] ?? { uri: null, found: PENDING }, shown),
          ...(withOwners ? { owner_addresses: owners[place] ?? [] } : {}),
          ...(collection === null ? {} : { collection }),
          contract: nftContract(source.chainId, token, { token: known, type: kind }),
        },
      ];
    }),
  );
  return tokenId => byId.get(tokenId);
}

function keysOf(rows: readonly NftTransferRow[]): InstanceKey[] {
  const byId = new Map(
    rows.map(({ token, tokenId, tokenType }): [bigint, InstanceKey] => [
      tokenId,
      { token, tokenId, type: tokenType === 'ERC-1155' ? tokenType : 'ERC-721' },
    ]),
  );
  return [...byId.values()];
}

async function describe(
  { reader }: IndexSource,
  wanted: { token: Address; keys: readonly InstanceKey[]; documents: MetadataDocuments },
  signal: AbortSignal,
): Promise<{ contract: TokenDescription; instances: TokenDescription[] }> {
  const head = await reader.head();
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const context = { blockNumber: head?.number ?? 0, signal: AbortSignal.any([signal, patience]) };
  const over = new Promise<FetchedDocument>(resolve =>
    context.signal.addEventListener('abort', () => resolve(PENDING), { once: true }),
  );
  const described = async (uri: string | null): Promise<TokenDescription> => ({
    uri,
    found: uri === null ? null : await Promise.race([wanted.documents.read(uri), over]),
  });
  const [contract, uris] = await Promise.all([
    reader.nfts.contractUri(wanted.token, context).then(described).catch(unheard),
    reader.tokenUris(wanted.keys, context).catch(() => null),
  ]);
  const instances = uris === null ? wanted.keys.map(unheard) : await Promise.all(uris.map(described));
  signal.throwIfAborted();
  return { contract, instances: bounded(instances) };
}

/** The contract itself was not heard. */
function unheard(): TokenDescription {
  return { uri: null, found: PENDING };
}

/** Leaves out what would make an answer of a thousand tokens too long to send. */
function bounded(instances: readonly TokenDescription[]): TokenDescription[] {
  let left = MAX_CHARACTERS;
  return instances.map(({ uri, found }) => {
    if (found?.status !== 'ok') return { uri, found };
    left -= found.text.length;
    return left < 0 ? { uri, found: { status: 'too_long' } } : { uri, found };
  });
}
