import { readFileSync } from 'node:fs';
import {
  type Abi,
  decodeErrorResult,
  decodeFunctionData,
  getAddress,
  type Hex,
  isAddressEqual,
  size,
} from 'viem';
import { describe, expect } from 'vitest';
import { isAnvil } from '../lab/chain-kind.ts';
import {
  type Block,
  type Explorer,
  type Node,
  only,
  type Seen,
  type Transaction,
  test,
} from './values-support.ts';

let node: Node;
let chain: Seen;
let explorer: Explorer;

test.beforeAll(({ node: sharedNode, seen, explorer: sharedExplorer }) => {
  [node, chain, explorer] = [sharedNode, seen, sharedExplorer];
});

const WEI = (value: bigint | undefined) => (value === undefined ? null : value.toString());
const isoOf = (seconds: bigint) => `${new Date(Number(seconds) * 1000).toISOString().slice(0, -1)}000Z`;
const artifactAbi = (name: string): Abi =>
  JSON.parse(readFileSync(new URL(`../../generated/devnet/${name}.json`, import.meta.url), 'utf8')).abi;

/** Fees of a transaction, by the node's own figures. */
function feesOf(hash: Hex) {
  const receipt = only(chain.receipts.filter(one => one.transactionHash === hash));
  const transaction = only(chain.transactions.filter(one => one.hash === hash));
  const block = only(chain.blocks.filter(one => one.number === receipt.blockNumber));
  const base = block.baseFeePerGas ?? 0n;
  const blob = (receipt.blobGasUsed ?? 0n) * (receipt.blobGasPrice ?? 0n);
  return {
    receipt,
    transaction,
    block,
    base,
    execution: receipt.gasUsed * receipt.effectiveGasPrice,
    fee: receipt.gasUsed * receipt.effectiveGasPrice + blob,
    burnt: receipt.gasUsed * base,
    tip: receipt.gasUsed * (receipt.effectiveGasPrice - base),
  };
}

describe('transactions', () => {
  test('every one has the node’s figures: fees, burnt fee, priority fee, position, confirmations', async () => {
    const head = chain.blocks.length - 1;

    for (const { hash } of chain.transactions) {
      const { receipt, transaction, block, base, fee, burnt, tip } = feesOf(hash);
      const parent = chain.blocks[Number(receipt.blockNumber) - 1];
      const namesTip = transaction.maxPriorityFeePerGas !== undefined;
      expect(await explorer.transaction(hash)).toMatchObject({
        hash,
        block_number: Number(receipt.blockNumber),
        position: receipt.transactionIndex,
        timestamp: isoOf(block.timestamp),
        confirmations: head - Number(receipt.blockNumber),
        status: receipt.status === 'success' ? 'ok' : 'error',
        type: Number(transaction.typeHex),
        nonce: transaction.nonce,
        value: transaction.value.toString(),
        gas_limit: Number(transaction.gas),
        gas_used: receipt.gasUsed.toString(),
        gas_price: receipt.effectiveGasPrice.toString(),
        base_fee_per_gas: base.toString(),
        max_fee_per_gas: WEI(transaction.maxFeePerGas),
        max_priority_fee_per_gas: WEI(transaction.maxPriorityFeePerGas),
        fee: { type: 'actual', value: fee.toString() },
        transaction_burnt_fee: burnt.toString(),
        priority_fee: namesTip ? tip.toString() : null,
        raw_input: transaction.input,
        confirmation_duration: [0, Number(block.timestamp - (parent?.timestamp ?? 0n)) * 1000],
        transaction_tag: null,
      });
    }
    expect(chain.transactions.length).toBeGreaterThan(200);
  });

  test('all five types are listed, without blobs on EDR', () => {
    const types = new Set(chain.transactions.map(({ typeHex }) => Number(typeHex)));

    // Another test sends type 4.
    expect([0, 1, 2, ...(isAnvil ? [3] : [])].filter(type => !types.has(type))).toEqual([]);
  });

  test('addresses are checksummed, and a creation has its contract and no recipient', async () => {
    const creations = chain.receipts.filter(({ contractAddress }) => contractAddress);
    for (const { transactionHash, contractAddress, from } of creations) {
      const record = await explorer.transaction(transactionHash);

      expect(record.to).toBeNull();
      expect(record.method).toBeNull();
      expect(record.created_contract).toMatchObject({
        hash: getAddress(contractAddress ?? '0x'),
        is_contract: true,
      });
      expect(record.from.hash).toBe(getAddress(from));
      expect(record.transaction_types).toContain('contract_creation');
    }
    expect(creations.length).toBeGreaterThan(3);
  });

  test('input of known contracts is decoded as by viem', async ({ chain: { contracts } }) => {
    let decoded = 0;
    for (const { hash, to, input } of chain.transactions) {
      const contract = contracts.find(({ address }) => to !== null && isAddressEqual(address, to));
      if (contract === undefined || contract.artifactName !== 'StableToken' || size(input) < 4) continue;
      const call = decodeFunctionData({ abi: artifactAbi(contract.artifactName), data: input });
      const record = await explorer.transaction(hash);

      expect(record.method).toBe(call.functionName);
      expect(record.decoded_input?.method_id).toBe(input.slice(2, 10));
      expect(record.decoded_input?.method_call).toMatch(new RegExp(`^${call.functionName}\\(`));
      expect(record.decoded_input?.parameters.map(({ value }) => value)).toEqual(
        (call.args ?? []).map(value =>
          Array.isArray(value) ? JSON.stringify(value.map(String)) : String(value),
        ),
      );
      decoded += 1;
    }
    expect(decoded).toBeGreaterThan(10);
  });

  test('reverted ones have the revert reason of the node’s trace', async () => {
    const faulty = artifactAbi('Faulty');
    const reasons = new Set<string>();
    for (const { transactionHash } of chain.receipts.filter(({ status }) => status === 'reverted')) {
      const trace = await node.rpc.call('debug_traceTransaction', transactionHash, { tracer: 'callTracer' });
      const output =
        typeof trace === 'object' && trace !== null && 'output' in trace ? String(trace.output) : '0x';
      const { revert_reason: reason, result, status } = await explorer.transaction(transactionHash);

      expect(status).toBe('error');
      expect(result).not.toBe('success');
      if (output === '0x') expect(reason).toBeNull();
      else if (output.startsWith('0x08c379a0')) {
        const { args } = decodeErrorResult({ abi: faulty, data: `0x${output.slice(2)}` });
        expect(reason).toBe(String(args?.[0]));
        reasons.add('words');
      } else if (output.startsWith('0x4e487b71')) {
        expect(reason).toContain('Panic');
        reasons.add('panic');
      } else {
        expect(reason).toMatch(/^(?:\w+\(.*\)|0x[0-9a-f]+)$/);
        reasons.add('custom');
      }
    }
    expect([...reasons].sort()).toEqual(['custom', 'panic', 'words']);
  });

  test('the main page has the six latest, which are the first of the list', async () => {
    const latest = await explorer.list<Transaction>('/explorer/main-page/transactions');
    const { items } = await explorer.page<Transaction>('/explorer/transactions');
    const expected = chain.transactions.toReversed().map(({ hash }) => hash);

    expect(latest.map(({ hash }) => hash)).toEqual(expected.slice(0, 6));
    expect(items.map(({ hash }) => hash)).toEqual(expected.slice(0, 50));
  });
});

describe('blocks', () => {
  test('every one has the node’s figures: sums of fees, shares, reward', async () => {
    for (const block of chain.blocks) {
      const fees = block.transactions.map(({ hash }) => feesOf(hash));
      const sum = (values: bigint[]) => values.reduce((total, value) => total + value, 0n);
      const [total, burnt, tips] = [
        // A block's fee is for execution; blobs have their own market.
        sum(fees.map(({ execution }) => execution)),
        sum(fees.map(one => one.burnt)),
        sum(fees.map(({ tip }) => tip)),
      ];
      const record = await explorer.block(block.number);

      expect(record).toMatchObject({
        hash: block.hash,
        height: Number(block.number),
        parent_hash: block.parentHash,
        timestamp: isoOf(block.timestamp),
        miner: { hash: getAddress(block.miner) },
        size: Number(block.size),
        transaction_count: block.transactions.length,
        gas_limit: block.gasLimit.toString(),
        gas_used: block.gasUsed.toString(),
        base_fee_per_gas: WEI(block.baseFeePerGas ?? undefined),
        transaction_fees: total.toString(),
        burnt_fees: burnt.toString(),
        priority_fee: tips.toString(),
        difficulty: block.difficulty.toString(),
        type: 'block',
        uncles_hashes: [],
      });
      expect(record.gas_used_percentage).toBeCloseTo(
        (Number(block.gasUsed) / Number(block.gasLimit)) * 100,
        3,
      );
      expect(record.gas_target_percentage).toBeCloseTo(
        (Number(block.gasUsed) / (Number(block.gasLimit) / 2) - 1) * 100,
        3,
      );
      if (total === 0n) expect(record.burnt_fees_percentage).toBeNull();
      else
        expect(record.burnt_fees_percentage).toBeCloseTo(Number((burnt * 10_000_000n) / total) / 100_000, 3);
      const reward = block.number === 0n ? [] : [{ reward: Number(tips), type: 'Miner Reward' }];
      expect(record.rewards).toEqual(reward);
    }
  });

  test('are found by hash in any letter case as by number', async () => {
    const block = only(chain.blocks.slice(7));

    const byHash = await explorer.block(`0x${block.hash.slice(2).toUpperCase()}`);

    expect(byHash).toEqual(await explorer.block(block.number));
  });

  test('the main page has the four latest', async () => {
    const latest = await explorer.list<Block>('/explorer/main-page/blocks');

    expect(latest.map(({ hash }) => hash)).toEqual(
      chain.blocks
        .toReversed()
        .slice(0, 4)
        .map(({ hash }) => hash),
    );
  });
});
