import type { Address } from 'viem';
import type { InstanceKey } from '#evm/token-id.ts';
import type { InstanceRow } from '#indexer/read/tokens/nft-holdings.ts';
import { loadParties, type Parties } from './parts/parties.ts';
import type { DescribedInstance } from './records/token-instance.ts';
import type { IndexSource } from './source/source.ts';

/** What a list waits for contracts to describe its items. A stranger's slow contract must not close anybody's list. */
const LIST_PATIENCE_MS = 3_000;

/** All that the records of some instances are made from. */
export interface DescribedInstances {
  readonly parties: Parties;
  /** Undefined for one that nobody has. */
  instance(token: Address, tokenId: bigint | null): DescribedInstance | undefined;
  /** Present when the contracts were not heard: the answer soon will be another. */
  readonly unsettled?: true;
}

/** For a list: who has the instances, and what their contracts say of them if they do so in time. Decision 43. */
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

/** For a record: what the contract says belongs to it. @throws when the node cannot be reached. */
export async function describeInstance(
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
  { reader }: IndexSource,
  found: { rows: readonly InstanceRow[]; tokens: readonly Address[]; uris: readonly (string | null)[] },
): Promise<DescribedInstances> {
  const { rows, tokens, uris } = found;
  const parties = await loadParties(reader, { addresses: rows.map(({ onlyHolder }) => onlyHolder), tokens });
  const described = new Map(
    rows.map((row, place) => [keyOf(row.token, row.tokenId), { row, uri: uris[place] ?? null }]),
  );
  return { parties, instance: (token, tokenId) => described.get(keyOf(token, tokenId)) };
}

function keyOf(token: Address, tokenId: bigint | null): string {
  return `${token}/${tokenId}`;
}
