import { numberToHex } from 'viem';
import type { Logger } from '#lib/logger.ts';
import type { ChainClient } from '#node/client.ts';
import { ChainMoved, ContradictoryBlock } from '../../node/block-ref.ts';
import { type BlockBody, bodyReader } from './block-body.ts';
import { blockReader, type RecomputedBlock } from './block-reader.ts';
import type { ChainProofs } from './chain-proofs.ts';
import type { BlockHeader, FetchedBlock } from './fetched-block.ts';
import type { ReceiverCode } from './receiver-code.ts';
import { singleNodes } from './single-nodes.ts';

export interface BlockFetcher {
  /**
   * Fetches a block with its transactions.
   * @throws ChainMoved when the node does not have the block (any more) or it changed during the fetch
   */
  body(number: number): Promise<BlockBody>;
  /**
   * Fetches the rest of a block, and recomputes it.
   * @throws ChainMoved as `body`
   * @throws ContradictoryBlock when every node contradicts itself or the chain about the block
   */
  complete(body: BlockBody): Promise<FetchedBlock>;
  /** Null when the node has no such block. */
  header(number: number | 'latest'): Promise<BlockHeader | null>;
}

interface FetcherDeps {
  readonly client: ChainClient;
  readonly code: Pick<ReceiverCode, 'prefetch'>;
  readonly proofs: ChainProofs;
  readonly log: Logger;
}

/**
 * Reads complete blocks from a node by the best methods it supports. The other nodes are asked about a block about
 * which one contradicts itself, or whose contents do not fit its hash (Decisions 380 and 381).
 */
export function blockFetcher({ client, code, proofs, log }: FetcherDeps): BlockFetcher {
  const { id, request, nodes } = client;
  const body = bodyReader(client);
  const completed = blockReader({ client, code, proofs, log });
  const others = singleNodes({ client, code, proofs, log });

  async function complete(ofBlock: BlockBody): Promise<FetchedBlock> {
    const { proof, ...block } = await agreed(ofBlock);
    return { ...block, isProven: proofs.accept(ofBlock.number, proof) };
  }

  async function agreed(ofBlock: BlockBody): Promise<RecomputedBlock> {
    const first = await completed(ofBlock).catch((error: unknown) => questionable(error, ofBlock));
    if (first instanceof Error) {
      log.warn({ err: first, chainId: id }, 'a node contradicts itself, asking the others');
      const isOther = first instanceof ChainMoved;
      const found = await others.consistent(ofBlock, { known: await header(ofBlock.number), isOther });
      if (found !== undefined) return found;
      // If all nodes fail, the contradiction is the more useful error.
      if (first instanceof ContradictoryBlock)
        proofs.refuse({ number: ofBlock.number, reason: first.message });
      throw first;
    }
    switch (first.proof.kind) {
      case 'contradiction':
        return (await proofs.knowsRulesNear(first.number, async number => completed(await body(number))))
          ? others.fitting(first)
          : others.hashing(first);
      case 'other-hash':
        return others.hashing(first);
      default:
        return first;
    }
  }

  /** Returns an error after which single nodes are asked. @throws any other one */
  async function questionable(error: unknown, { number, hash }: BlockBody): Promise<Error> {
    const hasOthers = nodes.length > 1;
    if (error instanceof ContradictoryBlock && (hasOthers || error.isOfContents)) return error;
    // A node that does not give a receipt looks like a chain that moved.
    if (error instanceof ChainMoved && hasOthers && (await header(number))?.hash === hash) return error;
    throw error;
  }

  async function header(number: number | 'latest'): Promise<BlockHeader | null> {
    const tag = number === 'latest' ? number : numberToHex(number);
    const found = await request({ method: 'eth_getBlockByNumber', params: [tag, false] });
    if (found === null || found.number === null || found.hash === null) return null;
    return { number: Number(found.number), hash: found.hash, parentHash: found.parentHash };
  }

  return { body, complete, header };
}
