import { hexToNumber } from 'viem';
import type { Clock } from '../lib/clock.ts';
import type { ChainClient } from '../node/client.ts';

/** Reads the head of a node. At most one such request is open. `ageMs` is the time since the last one began. */
export function headReader(
  client: ChainClient,
  { clock, onHead }: { clock: Clock; onHead: (number: number) => void },
) {
  let reading: Promise<void> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    ageMs: () => Math.abs(clock.now() - readAt),
    read(): Promise<void> {
      readAt = clock.now();
      reading ??= client
        .request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
        .then(head => {
          const number = head?.number ?? null;
          if (number !== null) onHead(hexToNumber(number));
        })
        .finally(() => {
          reading = undefined;
        });
      return reading;
    },
  };
}
