import { TRANSFER } from '#evm/coin-logs.ts';
import type { BlockContents } from '#evm/proofs/block-proof.ts';
import { dataBytes } from '#evm/proofs/bytes.ts';
import { BLOOM_BYTES, bloomBits } from '#evm/proofs/receipt-encoding.ts';
import type { BlockWithoutReceipts } from '#node/block-contents.ts';
import { NATIVE_COIN } from '../../model/payment-chain.ts';
import { sendsCoins } from '../node/coin-blocks.ts';
import { hasReached, type WatchedAddresses } from '../node/token-transfers.ts';

/** Most recipients that are looked for. Of more, one is in nearly every filter by chance. */
const RECIPIENTS = 2_000;
/** Most addresses and topics whose bits are remembered. */
const REMEMBERED = 10_000;

/** Bloom filters of blocks, compared with the watched addresses of a chain. */
export function watchedBlooms() {
  const known = new Map<string, readonly number[]>();

  function bitsOf(entry: string): readonly number[] {
    const remembered = known.get(entry);
    if (remembered !== undefined) return remembered;
    const bits = bloomBits(dataBytes(entry));
    if (known.size >= REMEMBERED) known.clear();
    known.set(entry, bits);
    return bits;
  }

  return {
    /**
     * False when the header and the transactions of a block show that it has no transfer to a watched address, so that its
     * receipts are not needed. A filter of zeros shows nothing, because some chains send no other.
     */
    mayConcern(
      { block, transactions }: BlockWithoutReceipts,
      { watched, coinLogsFrom }: { watched: WatchedAddresses; coinLogsFrom: number | undefined },
    ): boolean {
      const bloom = dataBytes(block.logsBloom);
      if (bloom.every(byte => byte === 0)) return transactions.length > 0;
      const hasCoinLogs = hasReached(Number(block.number), coinLogsFrom);
      const isSent = transactions.some(({ hash, from, to = null, value }) => {
        return sendsCoins({ hash, from, to, value }) && watched.has(NATIVE_COIN, `${to}`.toLowerCase());
      });
      if (isSent && !hasCoinLogs) return true;
      const { tokens, recipients } = hasCoinLogs ? watched.withCoins : watched;
      const isSet = (entry: string) => has(bloom, bitsOf(entry));
      if (!isSet(TRANSFER) || !tokens.some(isSet)) return false;
      return recipients.length > RECIPIENTS || recipients.some(one => isSet(topicOf(one)));
    },
  };
}

/** Learns whether the bloom filters of a chain are those of its logs, from its proven blocks. */
export function bloomRule() {
  let holds: boolean | undefined;
  return {
    see({ block, receipts }: BlockContents): void {
      const log = receipts.find(receipt => receipt !== null && receipt.logs.length > 0)?.logs[0];
      if (log === undefined || holds === false) return;
      const bloom = dataBytes(block.logsBloom);
      holds = [log.address, ...log.topics].every(entry => has(bloom, bloomBits(dataBytes(entry))));
    },
    /** True once a block with a log was proven, unless the filter of such a block lacked the log. */
    holds: (): boolean => holds === true,
  };
}

function has(bloom: Uint8Array, bits: readonly number[]): boolean {
  return bits.every(bit => (((bloom[BLOOM_BYTES - 1 - (bit >> 3)] ?? 0) >> (bit & 7)) & 1) === 1);
}

/** An address as a topic. */
function topicOf(address: string): string {
  return `0x${address.slice(2).padStart(64, '0')}`;
}
