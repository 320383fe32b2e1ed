import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem';
import { expect, test } from 'vitest';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import { startTestDevnet } from '../lab/devnet.ts';
import { text } from '../lab/json.ts';

const ABI = parseAbi(['function symbol() view returns (string)', 'function decimals() view returns (uint8)']);

test('the tokens of a chain match their own metadata, the dollar first', async () => {
  await using devnet = await startTestDevnet({ chains: 2, blocks: 25 });

  for (const { rpcUrl, tokens, prices } of devnet.chains) {
    const rpc = httpRpc(rpcUrl);
    const said = await Promise.all(
      tokens.map(async ({ address }) => {
        const [symbol, decimals] = await Promise.all(
          (['symbol', 'decimals'] as const).map(async functionName => {
            const data = encodeFunctionData({ abi: ABI, functionName });
            const answer = text(await rpc.call('eth_call', { to: address, data }, 'latest'));
            return decodeFunctionResult({ abi: ABI, functionName, data: `0x${answer.slice(2)}` });
          }),
        );
        return { address, symbol, decimals };
      }),
    );

    expect(tokens).toEqual(said);
    expect(tokens.map(({ address }) => address)[0]).toBe(prices.usdToken);
  }
});

test('the activity never sends anything to the merchant', async () => {
  await using devnet = await startTestDevnet({ blocks: 45 });
  const rpc = httpRpc(devnet.chains[0]?.rpcUrl ?? '');

  const logs = await rpc.call('eth_getLogs', {
    fromBlock: '0x0',
    toBlock: 'latest',
    topics: [null, null, `0x${devnet.merchant.slice(2).toLowerCase().padStart(64, '0')}`],
  });
  const balance = await rpc.call('eth_getBalance', devnet.merchant, 'latest');

  expect([logs, balance]).toEqual([[], '0x0']);
});
