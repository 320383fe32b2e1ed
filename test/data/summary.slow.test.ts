import { encodeFunctionData, formatEther, formatUnits, type Hex, maxUint256, parseAbi } from 'viem';
import { describe, expect } from 'vitest';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import type { ChainView, SeenTransaction } from '../devnet/chain-view.ts';
import { list, record, text } from '../lab/json.ts';
import type { Client } from '../support/contract-client.ts';
import { testOnOwnDevnet } from '../support/own-devnet.ts';

const TOKEN = parseAbi([
  'function mint(address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
  'function transfer(address to, uint256 amount)',
  'function burn(uint256 amount)',
  'function setApprovalForAll(address operator, bool approved)',
]);

const test = testOnOwnDevnet(40);
let api: Client;
let chain: EmbeddedChain;
let view: ChainView;

test.beforeAll(({ api: ownApi, chain: ownChain, view: ownView }) => {
  [api, chain, view] = [ownApi, ownChain, ownView];
});

interface Told {
  template: string;
  values: Record<string, unknown>;
}

/** Sentences of a summary, with the value of each variable, the symbol of a token and the hash of an address. */
async function summaryOf(hash: string): Promise<Told[]> {
  const { body } = await api.get(`/explorer/transactions/${hash}/summary`);
  const { success, data } = record(body);
  expect(success).toBe(true);
  return list(record(data).summaries).map(summary => {
    const { summary_template: template, summary_template_variables: variables } = record(summary);
    const values = Object.entries(record(variables)).map(([name, variable]) => {
      const { type, value } = record(variable);
      if (type === 'token') return [name, record(value).symbol];
      if (type === 'address') return [name, text(record(value).hash).toLowerCase()];
      return [name, value];
    });
    return { template: text(template), values: Object.fromEntries(values) };
  });
}

function transactionTo(name: string, functionName: (typeof TOKEN)[number]['name'], isFor = (_: Hex) => true) {
  const selector = selectorOf(functionName);
  const found = view.transactions.find(
    ({ to, input, isSuccess }) =>
      isSuccess && to === view.contract(name).toLowerCase() && input.startsWith(selector) && isFor(input),
  );
  if (found === undefined) throw new Error(`nobody calls ${functionName} of ${name}`);
  return found;
}

function selectorOf(functionName: (typeof TOKEN)[number]['name']): string {
  const zero = `0x${'00'.repeat(20)}` as const;
  const args = { mint: [zero, 0n], approve: [zero, 0n], transfer: [zero, 0n], burn: [0n] } as const;
  return functionName === 'setApprovalForAll'
    ? encodeFunctionData({ abi: TOKEN, functionName, args: [zero, true] }).slice(0, 10)
    : encodeFunctionData({ abi: TOKEN, functionName, args: args[functionName] }).slice(0, 10);
}

/** Arguments of a call as words. */
function words({ input }: SeenTransaction): bigint[] {
  return (input.slice(10).match(/.{64}/g) ?? []).map(word => BigInt(`0x${word}`));
}

const asAddress = (word = 0n) => `0x${word.toString(16).padStart(40, '0')}`;

describe('the first sentence of', () => {
  test('a transfer of coins names amount and receiver', async () => {
    const plain = view.transactions.find(({ input, to }) => input === '0x' && to !== null && !isContract(to));
    if (plain === undefined) throw new Error('nobody sends coins');
    const { value } = await view.client.getTransaction({ hash: plain.hash });

    const [first] = await summaryOf(plain.hash);

    expect(first).toEqual({
      template: '{action_type} {amount} {native} to {to_address}',
      values: { action_type: 'Transfer', amount: formatEther(value), to_address: plain.to },
    });
  });

  test('a token transfer, minting and burning has amounts in the token’s whole units', async () => {
    const transfer = transactionTo('US Dollar Sample', 'transfer');
    const mint = transactionTo('US Dollar Sample', 'mint');
    const burn = transactionTo('US Dollar Sample', 'burn');

    const [first] = await summaryOf(transfer.hash);
    const [second] = await summaryOf(mint.hash);
    const [third] = await summaryOf(burn.hash);

    expect(first).toEqual({
      template: '{action_type} {amount} {token} to {to_address}',
      values: {
        action_type: 'Transfer',
        amount: formatUnits(words(transfer)[1] ?? 0n, 6),
        token: 'USDS',
        to_address: asAddress(words(transfer)[0]),
      },
    });
    expect(second?.values).toMatchObject({
      action_type: 'Mint',
      amount: formatUnits(words(mint)[1] ?? 0n, 6),
    });
    expect(third).toEqual({
      template: '{action_type} {amount} {token} from {from_address}',
      values: {
        action_type: 'Burn',
        amount: formatUnits(words(burn)[0] ?? 0n, 6),
        token: 'USDS',
        from_address: burn.from,
      },
    });
  });

  test('an NFT’s minting names its id', async () => {
    const mint = view.transactions.find(
      ({ to, logs, isSuccess }) =>
        isSuccess &&
        to === view.contract('Postcards').toLowerCase() &&
        BigInt(logs[0]?.topics[1] ?? 1) === 0n,
    );
    const topics = mint?.logs[0]?.topics ?? [];

    const [first] = await summaryOf(mint?.hash ?? '');

    expect(first).toEqual({
      template: '{action_type} {token} {token_id} to {to_address}',
      values: {
        action_type: 'Mint',
        token: 'POST',
        token_id: BigInt(topics[3] ?? 0).toString(),
        to_address: asAddress(BigInt(topics[2] ?? 0)),
      },
    });
  });

  test('an approval names the spender and the amount', async () => {
    const approval = transactionTo('US Dollar Sample', 'approve', input => !input.endsWith('ff'.repeat(32)));

    const [first] = await summaryOf(approval.hash);

    expect(first).toEqual({
      template: '{action_type} {amount} {token} for {to_address}',
      values: {
        action_type: 'Approve',
        amount: formatUnits(words(approval)[1] ?? 0n, 6),
        token: 'USDS',
        to_address: asAddress(words(approval)[0]),
      },
    });
  });

  test('a contract creation names the contract', async () => {
    const creation = view.transactions.find(({ to }) => to === null);

    const summaries = await summaryOf(creation?.hash ?? '');

    expect(summaries[0]).toEqual({
      template: '{action_type} contract {contract_address}',
      values: { action_type: 'Create', contract_address: creation?.contractAddress },
    });
  });

  test('any other call names the method, the contract and the coins sent along', async () => {
    const split = view.transactions.find(
      ({ to, isSuccess }) => isSuccess && to === view.contract('Payment Splitter').toLowerCase(),
    );
    const { value } = await view.client.getTransaction({ hash: split?.hash ?? '0x' });

    const [first] = await summaryOf(split?.hash ?? '');

    expect(first?.template).toBe('{action_type} {method} on {contract_address} with {amount} {native}');
    expect(first?.values).toMatchObject({ contract_address: split?.to, amount: formatEther(value) });
    expect(first?.values.method).toMatch(/^split/);
  });
});

test('unlimited and revoked approvals have sentences of their own', async () => {
  const rpc = httpRpc(chain.rpcUrl);
  const signer = deriveAccounts().signer(3);
  const spender = deriveAccounts().signer(4).address;
  let nonce = Number(await rpc.call('eth_getTransactionCount', signer.address, 'pending'));
  const send = async (name: string, data: Hex) => {
    const signed = await signer.signTransaction({
      type: 'eip1559',
      chainId: chain.id,
      nonce: nonce++,
      to: view.contract(name),
      data,
      gas: 200_000n,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 1n,
    });
    return String(await rpc.call('eth_sendRawTransaction', signed));
  };
  const all = encodeFunctionData({ abi: TOKEN, functionName: 'setApprovalForAll', args: [spender, false] });
  const unlimited = await send(
    'US Dollar Sample',
    encodeFunctionData({ abi: TOKEN, functionName: 'approve', args: [spender, maxUint256] }),
  );
  const revoked = await send('Postcards', all);
  await rpc.call('evm_mine');
  await expect
    .poll(async () => record((await api.get(`/explorer/transactions/${revoked}`)).body).block_number)
    .toEqual(expect.any(Number));

  expect((await summaryOf(unlimited))[0]?.values).toMatchObject({
    action_type: 'Approve',
    amount: 'unlimited',
  });
  expect((await summaryOf(revoked))[0]).toEqual({
    template: '{action_type} all {token} for {to_address}',
    values: { action_type: 'Revoke', token: 'POST', to_address: spender.toLowerCase() },
  });
});

test('every variable of every template has a value, for every transaction', async () => {
  for (const { hash, isSuccess } of view.transactions) {
    if (!isSuccess) continue;
    const summaries = await summaryOf(hash);

    expect(summaries.length).toBeGreaterThan(0);
    for (const { template, values } of summaries) {
      const names = [...template.matchAll(/\{(\w+)\}/g)]
        .map(([, name]) => name)
        .filter(name => name !== 'native');
      expect(Object.keys(values).toSorted()).toEqual(names.toSorted());
    }
  }
});

test('a failed transaction has no sentences, and an unknown one is a 404', async () => {
  const failed = view.transactions.find(({ isSuccess }) => !isSuccess);

  const { body } = await api.get(`/explorer/transactions/${failed?.hash}/summary`);
  const unknown = await api.get(`/explorer/transactions/0x${'11'.repeat(32)}/summary`);

  expect(body).toEqual({ success: false, data: { summaries: [] } });
  expect(unknown.status).toBe(404);
});

function isContract(address: string): boolean {
  return view.chain.contracts.some(contract => contract.address.toLowerCase() === address);
}
