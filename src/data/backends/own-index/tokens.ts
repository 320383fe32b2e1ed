import type { Address } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { lowerCase } from '#evm/address.ts';
import { type InstanceKey, instanceName } from '#evm/token-id.ts';
import type { InstanceRow } from '#indexer/read/tokens/holdings.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import type { Answers } from '../port/backend.ts';
import { checksummed } from './parts/format.ts';
import { loadParties, type Parties } from './parts/parties.ts';
import { type Metadata, metadataIn } from './source/metadata.ts';
import { transferPosition, uintKey, wholeKeys } from './source/position.ts';
import { assertWhole, type IndexSource, missingFrom, nextPage, PAGE_SIZE } from './source/source.ts';
import { holderAfter, holderPage } from './token-holders.ts';
import { transferPage } from './transactions/token-transfers.ts';

/** Token instances: holders from the index, metadata from the contract. */
export function tokenAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async listTokenInstances({ path, query }, { position, signal }) {
      const keys = wholeKeys({ position, query }, ['unique_token']);
      const { token, type } = await knownNft(source, path.address_hash);
      const page = await reader.instanceList({
        token,
        type,
        limit: PAGE_SIZE,
        holder: query.holder_address_hash === undefined ? undefined : lowerCase(query.holder_address_hash),
        before: keys === undefined ? undefined : uintKey(keys.unique_token),
      });
      const { instance, parties, unsettled } = await lookUpInstances(
        source,
        { ids: page.items, tokens: [token] },
        signal,
      );
      return {
        ...(unsettled === undefined ? {} : { unsettled }),
        body: {
          items: page.items.flatMap(id => {
            const described = instance(id);
            return described === undefined ? [] : [tokenInstance(described, parties)];
          }),
          next_page_params: nextPage(source, page, ({ tokenId }) => ({ unique_token: tokenId.toString() })),
        },
      };
    },

    async listTransfersOfTokenInstance({ path, query }, { position }) {
      const before = transferPosition(position, query);
      const { token, missing } = await knownNft(source, path.address_hash);
      const page = await reader.tokenTransfers({
        token,
        tokenId: path.id,
        limit: PAGE_SIZE,
        before,
      });
      if (page.items.length === 0 && missing !== undefined) throw missing;
      return { body: await transferPage(source, page) };
    },

    async listTokenInstanceHolders({ path, query }, { position }) {
      const after = holderAfter(position, query);
      const { token, type, missing } = await knownNft(source, path.address_hash);
      const page = await reader.instanceHolders({
        token,
        type,
        tokenId: path.id,
        limit: PAGE_SIZE,
        after,
      });
      if (page.items.length === 0 && missing !== undefined) throw missing;
      return { body: await holderPage(source, page) };
    },

    async getTokenInstance({ path }, { signal }) {
      const missing = () => missingFrom(source, `Token instance ${path.id} of ${path.address_hash}`);
      const [found] = await source.reader.tokens([lowerCase(path.address_hash)]);
      const row = found === undefined ? null : await instanceRow(source, { found, tokenId: path.id }, signal);
      if (row === null) throw missing();
      const { instance, parties } = await describeInstance(source, row, signal);
      const described = instance(row);
      if (described === undefined) throw missing();
      return { body: tokenInstance(described, parties) };
    },
  } satisfies Answers;
}

/**
 * Finds a token that may have ids. One first seen as ERC-20 may have them too; `missing` is its error if it has none.
 * @throws BackendError when the address is no known token.
 */
async function knownNft(source: IndexSource, hash: string) {
  assertWhole(source);
  const missing = missingFrom(source, `NFT contract ${hash}`);
  const [found] = await source.reader.tokens([lowerCase(hash)]);
  if (found === undefined) throw missing;
  const type = found.type === 'ERC-1155' ? found.type : 'ERC-721';
  return { token: found.address, type, ...(found.type === 'ERC-20' ? { missing } : {}) } as const;
}

/**
 * Finds a token instance. An instance minted without an event is known only to its contract. A token first seen as
 * ERC-20 may have ids if its events showed them (Decision 42).
 */
async function instanceRow(
  { reader }: IndexSource,
  { found, tokenId }: { found: TokenRow; tokenId: bigint },
  signal: AbortSignal,
): Promise<InstanceRow | null> {
  const type = found.type === 'ERC-1155' ? found.type : 'ERC-721';
  const key = { token: found.address, tokenId, type } as const;
  const [[row], head] = await Promise.all([reader.tokenInstances([key]), reader.head()]);
  if (row !== null && row !== undefined) return row;
  if (found.type !== 'ERC-721' || head === null) return null;
  const owner = await reader.ownerOf(key, { blockNumber: head.number, signal });
  return owner === null ? null : { ...key, isUnique: true, onlyHolder: owner };
}

/**
 * Time that a list waits for contracts to describe its items, in milliseconds. A slow contract must not block the list.
 */
const LIST_PATIENCE_MS = 3_000;

/** Data for the records of token instances. */
export interface DescribedInstances {
  readonly parties: Parties;
  /** Undefined for an instance without a holder. */
  instance(key: InstanceKey): DescribedInstance | undefined;
  /** Present when the contracts did not answer in time. The answer will soon change. */
  readonly unsettled?: true;
}

/** Looks up instances for a list: their holders, and descriptions from contracts that answer in time (Decision 43). */
export async function lookUpInstances(
  source: IndexSource,
  { ids, tokens }: { ids: readonly InstanceKey[]; tokens: readonly Address[] },
  signal: AbortSignal,
): Promise<DescribedInstances> {
  const rows = (await source.reader.tokenInstances(ids)).filter(row => row !== null);
  const patience = AbortSignal.any([signal, AbortSignal.timeout(LIST_PATIENCE_MS)]);
  const uris = await urisOf(source, rows, patience).catch(() => null);
  signal.throwIfAborted();
  const described = await withParties(source, { rows, tokens, uris: uris ?? [] });
  return uris === null ? { ...described, unsettled: true } : described;
}

/**
 * Looks up one instance for a record, which needs the contract's description. @throws when the node cannot be reached.
 */
async function describeInstance(
  source: IndexSource,
  row: InstanceRow,
  signal: AbortSignal,
): Promise<DescribedInstances> {
  const uris = await urisOf(source, [row], signal);
  return withParties(source, { rows: [row], tokens: [row.token], uris });
}

async function urisOf(
  { reader }: IndexSource,
  rows: readonly InstanceRow[],
  signal: AbortSignal,
): Promise<(string | null)[]> {
  const head = await reader.head();
  return head === null ? [] : reader.tokenUris(rows, { blockNumber: head.number, signal });
}

async function withParties(
  source: IndexSource,
  found: { rows: readonly InstanceRow[]; tokens: readonly Address[]; uris: readonly (string | null)[] },
): Promise<DescribedInstances> {
  const { rows, tokens, uris } = found;
  const parties = await loadParties(source, { addresses: rows.map(({ onlyHolder }) => onlyHolder), tokens });
  const described = new Map(rows.map((row, index) => [instanceName(row), { row, uri: uris[index] ?? null }]));
  return { parties, instance: key => described.get(instanceName(key)) };
}

/** An instance and the URI that its contract gives for it; null when it gives none. */
export interface DescribedInstance {
  readonly row: InstanceRow;
  readonly uri: string | null;
}

/** Record of a token instance. Only a unique one has an owner. */
export function tokenInstance(
  { row, uri }: DescribedInstance,
  parties: Parties,
): ExplorerSchemas['TokenInstance'] {
  const { isUnique, onlyHolder, tokenId, token } = row;
  return {
    is_unique: isUnique,
    id: tokenId.toString(),
    ...(onlyHolder === null ? {} : { holder_address_hash: checksummed(onlyHolder) }),
    ...described(metadataIn(uri)),
    owner: isUnique ? parties.addressOrNull(onlyHolder) : null,
    token: parties.token(token),
  };
}

/** Record of an address's NFT with the amount it holds. */
export function addressNft(
  instance: DescribedInstance,
  value: bigint,
  parties: Parties,
): ExplorerSchemas['AddressNft'] {
  return {
    token_type: instance.row.type,
    value: value.toString(),
    ...tokenInstance(instance, parties),
  };
}

function described(metadata: Metadata | null) {
  if (metadata === null) return {};
  const { document, imageUrl, animationUrl, externalUrl } = metadata;
  return {
    ...(imageUrl === null ? {} : { image_url: imageUrl }),
    ...(animationUrl === null ? {} : { animation_url: animationUrl }),
    ...(externalUrl === null ? {} : { external_app_url: externalUrl }),
    metadata: document,
  };
}
