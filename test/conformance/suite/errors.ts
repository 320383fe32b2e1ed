import { describe, expect, test } from 'vitest';
import { type Bench, NO_HASH } from './bench.ts';

/** A missing record is a 404, and an invalid request is refused. */
export function errorsAreErrors(bench: () => Bench): void {
  describe('errors', () => {
    test('a missing record is a 404', async () => {
      const { api, subject, head } = bench();
      const { holder, token, collection } = subject.places;
      for (const path of [
        `transactions/${NO_HASH}`,
        `transactions/${NO_HASH}/logs`,
        `transactions/${NO_HASH}/token-transfers`,
        `transactions/${NO_HASH}/internal-transactions`,
        `transactions/${NO_HASH}/state-changes`,
        `transactions/${NO_HASH}/raw-trace`,
        `transactions/${NO_HASH}/summary`,
        `blocks/${NO_HASH}`,
        `blocks/${head + 1_000}`,
        `blocks/${head + 1_000}/transactions`,
        `blocks/${NO_HASH}/withdrawals`,
        `smart-contracts/${holder}`,
        `tokens/${holder}`,
        `tokens/${holder}/counters`,
        `tokens/${holder}/transfers`,
        `tokens/${holder}/holders`,
        `tokens/${collection}/instances/987654321`,
        `tokens/${token}/instances/1`,
        `tokens/${token}/instances/1/transfers`,
        `tokens/${token}/instances/1/holders`,
        `tokens/${holder}/instances`,
      ]) {
        const { status, headers } = await api.get(`/explorer/${path}`);
        expect([path, status, headers.get('cache-control')]).toEqual([path, 404, 'no-store']);
      }
    });

    test('bad input is a 400 that names it, and never reaches an upstream', async () => {
      const { api, subject } = bench();
      const before = subject.upstreamRequests().length;
      for (const [path, message] of [
        ['transactions/0x12', 'transaction_hash: '],
        ['blocks/-1', 'block_number_or_hash: '],
        ['addresses/0x12', 'address_hash: '],
        ['addresses/0x12/tokens', 'address_hash: '],
        [`addresses/${subject.places.holder}/token-transfers?token=0x12`, 'token: '],
        ['blocks/40/internal-transactions?index=5', 'transaction_index: must be given together with index'],
        ['tokens/0x12/instances/1', 'address_hash: '],
        ['transactions?filter=nonsense', 'filter: '],
        ['blocks?chain_id=1', 'chain_id: '],
        ['blocks?type=', 'type: '],
        ['transactions?block_number=5', 'index: must be given together with block_number'],
      ] as const) {
        const { status, body } = await api.get(`/explorer/${path}`);
        expect([path, status, body]).toEqual([path, 400, { message: expect.stringContaining(message) }]);
      }
      expect(subject.upstreamRequests().length).toBe(before);
    });
  });
}
