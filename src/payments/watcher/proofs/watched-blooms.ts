import { TRANSFER } from '#evm/coin-logs.ts';
import type { BlockContents } from '#evm/proofs/block-proof.ts';
import { dataBytes } from '#evm/proofs/bytes.ts';
import { computedBloom } from '#evm/proofs/receipt-encoding.ts';
import type { BlockWithoutReceipts } from '#node/block-contents.ts';
import { NATIVE_COIN } from '../../model/payment-chain.ts';
import { sendsCoins } from '../node/coin-blocks.ts';
import { hasReached, type WatchedAddresses } from '../node/token-transfers.ts';

/** Bytes of a bloom filter in which an address or a topic has bits, and these bits. */
type Bits = readonly (readonly [byte: number, bits: number])[];

/** Most addresses and topics whose bits are remembered. */
const REMEMBERED = 50_000;

/** Bloom filters of blocks, compared with the watched addresses of a chain. */
export function watchedBlooms() {
  const known = new Map<string, Bits>();

  function bitsOf(entry: string): Bits {
    const remembered = known.get(entry);
    if (remembered !== undefined) return remembered;
    const bits = bitsIn(entry);
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
      return isSet(TRANSFER) && tokens.some(isSet) && recipients.some(one => isSet(topicOf(one)));
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
      holds = [log.address, ...log.topics].every(entry => has(bloom, bitsIn(entry)));
    },
    /** True once a block with a log was proven, unless the filter of such a block lacked the log. */
    holds: (): boolean => holds === true,
  };
}

function bitsIn(entry: string): Bits {
  return [...computedBloom([{ address: entry, topics: [] }]).entries()].filter(([, bits]) => bits !== 0);
}

function has(bloom: Uint8Array, wanted: Bits): boolean {
  return wanted.every(([byte, bits]) => ((bloom[byte] ?? 0) & bits) === bits);
}

/** An address as a topic. */
function topicOf(address: string): string {
  return `0x${address.slice(2).padStart(64, '0')}`;
}
