import { decodeEventLog, decodeFunctionData, erc20Abi, keccak256, toHex } from 'viem';
import { describe, expect, test } from 'vitest';
import { isAnvil } from '#test/lab/chain-kind.ts';
import {
  type Block,
  type Envelope,
  type Event,
  type Ground,
  lower,
  type Query,
  type Row,
  type Transaction,
} from './ground.ts';

const TRANSFER = 'Transfer(address,address,uint256)';
const text = (value: bigint | undefined) => value?.toString() ?? null;

/** Every record of the four queries matches the node. */
export function recordsAreTrue(ground: () => Ground): void {
  describe('records', () => {
    test('of blocks are all of the node’s, with its values', async () => {
      const { read, chains } = ground();
      for (const { id, seen } of chains) {
        const { data, meta } = await read<Envelope<Block>>('/blocks', { chain_id: id, limit: 1000 });

        expect(data).toEqual(
          seen.blocks.toReversed().map(block => ({
            chain_id: id,
            block_number: Number(block.number),
            block_hash: block.hash,
            parent_hash: block.parentHash,
            block_timestamp: Number(block.timestamp),
            nonce: block.nonce,
            sha3_uncles: block.sha3Uncles,
            mix_hash: block.mixHash,
            miner: lower(block.miner),
            state_root: block.stateRoot,
            transactions_root: block.transactionsRoot,
            receipts_root: block.receiptsRoot,
            logs_bloom: block.logsBloom,
            size: Number(block.size),
            extra_data: block.extraData,
            difficulty: String(block.difficulty),
            total_difficulty: text(block.totalDifficulty ?? undefined),
            transaction_count: block.transactions.length,
            gas_limit: Number(block.gasLimit),
            gas_used: Number(block.gasUsed),
            withdrawals_root: block.withdrawalsRoot ?? null,
            base_fee_per_gas: Number(block.baseFeePerGas),
          })),
        );
        expect(meta).toEqual({
          chain_ids: [id],
          page: 0,
          limit_per_chain: 1000,
          total_items: seen.blocks.length,
          total_pages: 1,
        });
      }
    });

    test('of transactions are all of the node’s, with the values of their receipts', async () => {
      const { read, chains } = ground();
      for (const { id, seen } of chains) {
        const { data } = await read<Envelope<Transaction>>('/transactions', { chain_id: id, limit: 1000 });

        expect(data.map(({ hash }) => hash)).toEqual(seen.transactions.map(({ hash }) => hash).toReversed());
        const records = new Map(data.map(record => [record.hash, record]));
        for (const [at, one] of seen.transactions.entries()) {
          const receipt = seen.receipts[at];
          const type = Number(one.typeHex);
          expect(records.get(one.hash)).toMatchObject({
            chain_id: String(id),
            block_number: Number(one.blockNumber),
            block_hash: one.blockHash,
            nonce: one.nonce,
            transaction_index: one.transactionIndex,
            from_address: lower(one.from),
            to_address: one.to === null ? null : lower(one.to),
            value: String(one.value),
            gas_price: String(receipt?.effectiveGasPrice),
            gas: Number(one.gas),
            function_selector: one.to === null || one.input.length < 10 ? '0x' : one.input.slice(0, 10),
            data: one.input,
            max_fee_per_gas: type < 2 ? null : text(one.maxFeePerGas),
            max_priority_fee_per_gas: type < 2 ? null : text(one.maxPriorityFeePerGas),
            transaction_type: type,
            r: String(BigInt(one.r)),
            s: String(BigInt(one.s)),
            gas_used: Number(receipt?.gasUsed),
            cumulative_gas_used: Number(receipt?.cumulativeGasUsed),
            effective_gas_price: String(receipt?.effectiveGasPrice),
            logs_bloom: receipt?.logsBloom,
            status: receipt?.status === 'success' ? 1 : 0,
          });
          expect(records.get(one.hash)?.contract_address).toBe(
            receipt?.contractAddress ? lower(receipt.contractAddress) : undefined,
          );
        }
      }
    });

    test('omit optional values that a transaction lacks, and never have null for them', async () => {
      const { read } = ground();
      const { data } = await read<Envelope<Transaction>>('/transactions', { limit: 1000 });
      const nullable = ['to_address', 'max_fee_per_gas', 'max_priority_fee_per_gas'];

      const nulls = data.flatMap(row => Object.entries(row).filter(([, value]) => value === null));
      expect(nulls.map(([name]) => name).filter(name => !nullable.includes(name))).toEqual([]);
      const blobs = data.filter(row => row.blob_gas_used !== undefined);
      expect(new Set(blobs.map(row => row.transaction_type))).toEqual(new Set(isAnvil ? [3] : []));
      expect(data.some(row => row.access_list_json !== undefined)).toBe(true);
    });

    test('of a wallet are its sent and received transactions, each once, page after page', async () => {
      const {
        read,
        chains: [{ id, seen }],
      } = ground();
      const [{ from } = { from: '' }] = seen.transactions;
      const wallet = lower(from);
      const its = seen.transactions.filter(
        one => lower(one.from) === wallet || lower(one.to ?? '') === wallet,
      );
      const pages: string[] = [];
      for (let page = 0; page * 7 < its.length; page += 1) {
        const query = { chain_id: id, limit: 7, page: Math.min(page, 20) };
        if (page > 20) break;
        const { data, meta } = await read<Envelope<Transaction>>(`/wallets/${from}/transactions`, query);
        expect(meta).toMatchObject({ address: wallet, total_items: its.length });
        expect(meta.total_pages).toBe(Math.ceil(its.length / 7));
        pages.push(...data.map(({ hash }) => hash));
      }

      expect(pages).toEqual(
        its
          .map(({ hash }) => hash)
          .toReversed()
          .slice(0, 21 * 7),
      );
      expect(its.length).toBeGreaterThan(7);
    });

    test('of transactions to a contract match the node’s, page after page, without its creation', async () => {
      const { read, chains } = ground();
      for (const { id, contract, seen } of chains) {
        const address = lower(contract('Community Token'));
        const its = seen.transactions.filter(one => lower(one.to ?? '') === address).toReversed();
        const creation = seen.receipts.find(one => lower(one.contractAddress ?? '') === address);
        const hashes: string[] = [];
        for (let page = 0; page * 7 < its.length; page += 1) {
          const query = { chain_id: id, limit: 7, page };
          const { data, meta } = await read<Envelope<Transaction>>(`/transactions/${address}`, query);
          expect(data.every(row => row.to_address === address)).toBe(true);
          expect(meta).toMatchObject({
            address,
            total_items: its.length,
            total_pages: Math.ceil(its.length / 7),
          });
          hashes.push(...data.map(({ hash }) => hash));
        }
        const { aggregations } = await read<Envelope<Row>>(`/transactions/${address}`, {
          chain_id: id,
          aggregate: 'count() as calls, sum(gas_used) as gas, count(distinct from_address) as callers',
        });
        const gas = seen.receipts.filter(one => lower(one.to ?? '') === address);

        expect(its.length).toBeGreaterThan(7);
        expect(hashes).toEqual(its.map(({ hash }) => hash));
        expect(creation).toBeDefined();
        expect(hashes).not.toContain(creation?.transactionHash);
        expect(aggregations).toEqual([
          {
            calls: its.length,
            gas: Number(gas.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)),
            callers: new Set(its.map(one => lower(one.from))).size,
          },
        ]);
      }
    });

    test('of events are the node’s logs in order: of all contracts, of one, or of one kind', async () => {
      const { read, chains } = ground();
      const topic = keccak256(toHex(TRANSFER));
      for (const { id, logs, contract, seen } of chains) {
        const address = lower(contract('Community Token'));
        const ofContract = logs.filter(log => lower(log.address) === address);
        const ofTopic = logs.filter(log => log.topics[0] === topic);
        const own = ofContract.filter(log => ofTopic.includes(log));
        const about = { address };
        const cases: [path: string, filters: Query, expected: typeof logs, about: object][] = [
          ['/events', {}, logs, {}],
          ['/events', { filter_topic_0: topic }, ofTopic, {}],
          ['/events', { filter_address: address, filter_topic_0: topic }, own, {}],
          [`/events/${address}`, {}, ofContract, about],
          [`/events/${address}`, { filter_topic_0: topic }, own, about],
          [`/events/${address}/${TRANSFER}`, {}, own, { address, signature: topic }],
        ];
        expect(own.length).toBeGreaterThan(10);
        expect(ofContract.length).toBeGreaterThan(own.length);
        for (const [path, filters, expected, said] of cases) {
          const query = { chain_id: id, limit: 1000, ...filters };
          const { data, meta } = await read<Envelope<Event>>(path, query);
          const { address: of, signature, total_items } = meta;

          expect(data, path).toEqual(
            expected.toReversed().map(log => ({
              chain_id: String(id),
              block_number: Number(log.blockNumber),
              block_hash: log.blockHash,
              block_timestamp: Number(seen.blocks[Number(log.blockNumber)]?.timestamp),
              transaction_hash: log.transactionHash,
              transaction_index: log.transactionIndex,
              log_index: log.logIndex,
              address: lower(log.address),
              data: log.data,
              topics: log.topics,
            })),
          );
          expect([path, { address: of, signature, total_items }]).toEqual([
            path,
            { ...said, total_items: expected.length },
          ]);
        }
      }
    });
  });

  describe('decoding', () => {
    test('applies to calls of known contracts, as viem decodes them, and to no others', async () => {
      const {
        read,
        chains: [{ id, contract }],
      } = ground();
      const to = lower(contract('US Dollar Sample'));
      const query = { chain_id: id, decode: 'true', limit: 1000 };
      const { data } = await read<Envelope<Transaction>>('/transactions', {
        ...query,
        filter_to_address: to,
      });
      const moved = data.filter(row => row.function_selector === '0xa9059cbb');

      expect(moved.length).toBeGreaterThan(3);
      for (const row of moved) {
        const { args } = decodeFunctionData({ abi: erc20Abi, data: hex(row.data) });
        expect(row.decoded?.signature).toBe('transfer(address,uint256)');
        expect(row.decoded?.name).toBe('transfer');
        expect(Object.values(row.decoded?.inputs ?? {})).toEqual(args?.map(one => lower(String(one))));
      }
      const all = await read<Envelope<Transaction>>('/transactions', query);
      const plain = all.data.filter(row => row.function_selector === '0x');
      expect(plain.length).toBeGreaterThan(0);
      expect(plain.filter(row => row.decoded !== undefined)).toEqual([]);
    });

    test('applies to events by the contract’s ABI, or by a signature that marks indexed parameters', async () => {
      const {
        read,
        chains: [{ id, contract }],
      } = ground();
      const path = `/events/${contract('Community Token')}`;
      const named = 'Transfer(address indexed a, address indexed b, uint256 c)';
      const byAbi = await read<Envelope<Event>>(`${path}/${TRANSFER}`, { chain_id: id, decode: 'true' });
      const byName = await read<Envelope<Event>>(`${path}/${encodeURIComponent(named)}`, { chain_id: id });
      const plain = await read<Envelope<Event>>(`${path}/${TRANSFER}`, { chain_id: id });

      for (const [at, row] of byAbi.data.entries()) {
        const { args } = decodeEventLog({
          abi: erc20Abi,
          eventName: 'Transfer',
          data: hex(row.data),
          topics: topicsOf(row),
        });
        const [from, to, value] = [lower(args.from), lower(args.to), String(args.value)];
        expect(row.decoded).toMatchObject({ name: 'Transfer', signature: TRANSFER });
        expect(Object.values(row.decoded?.indexed_params ?? {})).toEqual([from, to]);
        expect(Object.values(row.decoded?.non_indexed_params ?? {})).toEqual([value]);
        expect(byName.data[at]?.decoded).toEqual({
          name: 'Transfer',
          signature: TRANSFER,
          indexed_params: { a: from, b: to },
          non_indexed_params: { c: value },
        });
      }
      expect(plain.data.filter(row => row.decoded !== undefined)).toEqual([]);
      expect(byAbi.data).toHaveLength(20);
    });
  });
}

function hex(value: string): `0x${string}` {
  return `0x${value.slice(2)}`;
}

function topicsOf({ topics }: Event): [`0x${string}`, ...`0x${string}`[]] {
  const [first = '0x', ...others] = topics.map(hex);
  return [first, ...others];
}
