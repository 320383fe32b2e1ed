import { uintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { BOUND } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { tokensSweptWith } from '../../deposits/coin-tokens.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { DepositSweep } from '../model/recipient.ts';
import type { RecordedBlock } from '../store/chain-records.ts';
import { recordForm } from '../tables/record-form.ts';
import { select } from '../tables/select.ts';

/** A payment that may be at a deposit address. */
type SweptPayment = Pick<PaymentTransaction, 'id' | 'chainId' | 'tokenAddress' | 'recipient' | 'blockNumber'>;

const ADDRESSES = select({ from: 'sweeps', columns: ['address'] });

/** Sweeps of deposit addresses, of confirmed blocks. Each is recorded once. */
export function sweepStore(handle: Handle) {
  return {
    /**
     * Records sweeps of one chain. Records of the same transactions in other blocks, which were replaced, make room for them:
     * log indexes count within a block. `added` are those that were not known, `replaced` the addresses of removed records.
     * Needs a transaction.
     */
    async record(
      sweeps: readonly DepositSweep[],
    ): Promise<{ readonly added: DepositSweep[]; readonly replaced: readonly string[] }> {
      const added: DepositSweep[] = [];
      const replaced: string[] = [];
      const placed = new Map(sweeps.map(one => [`${one.txHash} ${one.blockHash}`, one]));
      for (const { chainId, txHash, blockHash } of placed.values()) {
        const rows = await ADDRESSES.changed(
          handle,
          'delete from sweeps where chain_id = ? and tx_hash = ? and block_hash <> ?',
          [chainId, txHash, blockHash],
        );
        for (const { address } of rows) replaced.push(address);
      }
      for (const one of sweeps) {
        const values = [one.chainId, one.txHash, one.logIndex, one.blockNumber, one.blockHash, one.blockTime];
        const rows = await select({ from: 'sweeps', columns: ['tx_hash'] }).changed(
          handle,
          `insert into sweeps (chain_id, tx_hash, log_index, block_number, block_hash, block_time, address,
             token_address, amount) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
           on conflict (chain_id, tx_hash, log_index) do nothing`,
          [...values, one.address, one.tokenAddress, uintColumn(one.amount)],
        );
        if (rows.length > 0) added.push(one);
      }
      return { added, replaced };
    },

    /** Blocks of a chain with recorded sweeps, from this one on. */
    async blocksFrom(chainId: number, blockNumber: number): Promise<RecordedBlock[]> {
      const rows = await select({
        from: 'sweeps',
        isDistinct: true,
        columns: ['block_number', 'block_hash'],
      }).rows(handle, 'where chain_id = ? and block_number >= ?', [chainId, blockNumber]);
      return rows.map(row => ({ blockNumber: row.block_number, blockHash: row.block_hash }));
    },

    /** Removes the sweeps in a block that was replaced, and returns their addresses. */
    async removeIn(chainId: number, { blockNumber, blockHash }: RecordedBlock): Promise<string[]> {
      const rows = await ADDRESSES.changed(
        handle,
        'delete from sweeps where chain_id = ? and block_number = ? and block_hash = ?',
        [chainId, blockNumber, blockHash],
      );
      return rows.map(({ address }) => address);
    },

    /** Sweeps of some addresses of a chain, the oldest first. */
    async ofAddresses(chainId: number, addresses: readonly string[]): Promise<DepositSweep[]> {
      if (addresses.length === 0) return [];
      const rows = await select({ from: 'sweeps', columns: ['*'] }).rows(
        handle,
        `where chain_id = ? and address in (${placeholders(addresses.length)}) order by block_number, log_index`,
        [chainId, ...addresses],
      );
      return rows.map(sweepForm.recordOf);
    },

    /** Hashes of the transactions that swept these payments, by id: the first sweep in their block or a later one. */
    async hashesOf(payments: readonly SweptPayment[]): Promise<ReadonlyMap<string, string>> {
      const placed = payments.filter(({ blockNumber }) => blockNumber !== null);
      const recipients = [...new Set(placed.map(({ recipient }) => recipient))];
      if (recipients.length === 0) return new Map();
      const rows = await select({
        from: 'sweeps',
        columns: ['address', 'chain_id', 'token_address', 'block_number', 'tx_hash'],
      }).rows(
        handle,
        `where address in (${placeholders(recipients.length)}) order by block_number, log_index`,
        recipients,
      );
      return new Map(
        placed.flatMap(({ id, recipient, chainId, tokenAddress, blockNumber }) => {
          const swept = rows.find(
            row =>
              row.address === recipient &&
              row.chain_id === chainId &&
              tokensSweptWith(chainId, tokenAddress).includes(row.token_address) &&
              row.block_number >= (blockNumber ?? 0),
          );
          return swept === undefined ? [] : [[id, swept.tx_hash]];
        }),
      );
    },

    /** The last sweeps of each of some addresses, newest first. */
    async last(
      addresses: readonly string[],
      limitPerAddress: number,
    ): Promise<ReadonlyMap<string, DepositSweep[]>> {
      if (addresses.length === 0) return new Map();
      const rows = await select({ from: 'sweeps s', columns: ['s.*'] }).rows(
        handle,
        `join (
           select chain_id, tx_hash, log_index,
             row_number() over (partition by address order by block_number desc, log_index desc) as turn
           from sweeps where address in (${placeholders(addresses.length)})
         ) t on t.chain_id = s.chain_id and t.tx_hash = s.tx_hash and t.log_index = s.log_index
         where turn <= ${BOUND} order by block_number desc, s.log_index desc`,
        [...addresses, limitPerAddress],
      );
      return Map.groupBy(rows.map(sweepForm.recordOf), ({ address }) => address);
    },
  };
}

const sweepForm = recordForm<DepositSweep>({
  chainId: 'plain',
  txHash: 'plain',
  logIndex: 'plain',
  blockNumber: 'plain',
  blockHash: 'plain',
  blockTime: 'plain',
  address: 'plain',
  tokenAddress: 'plain',
  amount: 'uint256',
});
