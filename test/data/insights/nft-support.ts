import { join } from 'node:path';
import { type Address, getContractAddress } from 'viem';
import type { MetadataDocuments } from '#data/backends/own-index/source/metadata-documents.ts';
import type { IndexSource } from '#data/backends/own-index/source/source.ts';
import { openDatabase } from '#db/open.ts';
import { type KnownAbi, knownAbis } from '#evm/abi/abi.ts';
import { createReader, type Reader } from '#indexer/index-reader.ts';
import { CHAIN_ID, clientOf, openTestIndex, type TestChain } from '../../indexer/support.ts';
import { text } from '../../lab/json.ts';
import { talkingToken } from '../../support/talking-token.ts';

export interface IndexedSource {
  source: IndexSource;
  close(): Promise<void>;
}

/** Indexes a chain's current state and returns a source for answers. */
export async function indexed(
  chain: TestChain,
  { abis = [], documents }: { abis?: KnownAbi[]; documents?: MetadataDocuments } = {},
): Promise<IndexedSource> {
  const file = join(chain.folder, `insights-${Math.random().toString(36).slice(2)}.sqlite`);
  const index = await openTestIndex({ file, client: chain.client, abis });
  await index.runOnce();
  await index.stop();
  const db = openDatabase({ file, readonly: true });
  return {
    source: {
      ...sourceOf(createReader({ db, abis: knownAbis(abis), client: clientOf(chain.rpcUrl) })),
      ...(documents === undefined ? {} : { documents }),
    },
    close: () => db.destroy(),
  };
}

/** An index source over this reader. */
export function sourceOf(reader: Reader): IndexSource {
  return {
    name: 'index',
    chainId: CHAIN_ID,
    reader,
    rates: { ofTokens: async () => new Map(), ofCoin: async () => null },
    hasCaughtUp: () => true,
    status: () => ({
      head: null,
      nodeHead: 0,
      lag: 0,
      lastLag: 0,
      lagSeconds: 0,
      firstBlock: 0,
      complete: true,
      unreadBlocks: 0,
      blocks: 0,
      provenBlocks: 0,
      unreadState: 0,
      stalled: false,
    }),
    firstBlock: () => 0,
    untilFound: lookUp => lookUp(),
  };
}

/** Deploys a token that returns this text for every URI and mints one id to the given account. */
export async function speakingToken(
  chain: TestChain,
  {
    standard = 'ERC-721',
    id,
    to,
    uri,
  }: { standard?: 'ERC-721' | 'ERC-1155'; id: bigint; to: Address; uri: string },
): Promise<Address> {
  const from = chain.accounts.signer(3).address;
  const nonce = BigInt(text(await chain.rpc.call('eth_getTransactionCount', from, 'pending')));
  const address = getContractAddress({ from, nonce });
  await chain.send(3, { data: talkingToken(standard, { id, to, text: uri }) });
  await chain.mine();
  await chain.send(3, { to: address });
  await chain.mine();
  return lower(address);
}

export function lower(address: Address): Address {
  return `0x${address.slice(2).toLowerCase()}`;
}
