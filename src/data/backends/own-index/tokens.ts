import { lowerCase } from '#evm/address.ts';
import type { InstanceRow } from '#indexer/read/tokens/nft-holdings.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import type { Answers } from '../port/backend.ts';
import { tokenInstance } from './records/token-instance.ts';
import { type IndexSource, missingFrom } from './source/source.ts';
import { describeInstance } from './token-metadata.ts';

/** Single ids of tokens: who has them from the index, what they look like from their contract. */
export function tokenAnswers(source: IndexSource): Pick<Answers, 'getTokenInstance'> {
  return {
    async getTokenInstance({ path }, { signal }) {
      const token = lowerCase(path.address_hash);
      const missing = () => missingFrom(source, `Token instance ${path.id} of ${path.address_hash}`);
      const [found] = await source.reader.tokens([token]);
      const row = found === undefined ? null : await instanceRow(source, { found, tokenId: path.id }, signal);
      if (row === null) throw missing();
      const { instance, parties } = await describeInstance(source, row, signal);
      const described = instance(token, path.id);
      if (described === undefined) throw missing();
      return { body: tokenInstance(described, parties) };
    },
  };
}

/**
 * Collections that were minted without an event for each id are only known to their contract. What began as ERC-20
 * may have ids, too, if its events said so. Decision 42.
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
