import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { systemClock } from '#lib/clock.ts';
import { faultyNode } from '../lab/faulty-node.ts';
import { list, record, text } from '../lab/json.ts';
import { startPaymentChain } from '../lab/payment-chain.ts';
import { SHOP } from '../lab/payments-service.ts';
import { until } from '../lab/until.ts';
import { BLOCKS_TO_SETTLE } from '../payments/watcher/setting.ts';
import { ANY_PORTS, programs } from './programs.ts';

const { start } = programs();
const run = promisify(execFile);

test('a program with an index of its payments chain proves payments by it, without their blocks from the node', async () => {
  await using chain = await startPaymentChain({ clock: systemClock });
  await using node = await faultyNode(chain.rpcUrl);
  const program = await start(`${ANY_PORTS}
chains:
  - id: ${chain.chainId}
    name: Test
    testnet: true
    confirmations: ${BLOCKS_TO_SETTLE - 1}
    native: { symbol: ETH, decimals: 18 }
    tokens: [{ address: "${chain.token}", symbol: USDS, decimals: 6 }]
    rpc: ["${node.url}"]
    backends: [{ kind: index, database: "sqlite:./index.db" }]
`);
  const { payments } = await program.ready();
  const tollgate = async (...args: string[]) => {
    const all = ['src/tollgate.js', 'keys', ...args, '--config', join(program.folder, 'tollgate.yaml')];
    return (await run(process.execPath, all)).stdout.trim();
  };
  const terms = ['--recipient', SHOP, '--chain', `${chain.chainId}`, '--token', chain.token];
  await tollgate('create-org', 'Shop', ...terms);
  const key = (await tollgate('create', '--org', 'Shop')).split(/\s+/).find(word => word.includes('_test_'));
  const ask = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return record(await (await fetch(`${payments?.url}/api/v1${path}`, { headers, ...sent })).json());
  };

  const link = await ask('/payment-links', { name: 'Field notebooks', amount: '7' });
  const session = await ask('/checkout-sessions', { payment_link_id: link.id });
  await chain.pay({ from: 1, to: SHOP, amount: BigInt(text(session.amount_due)) });
  await chain.mine(BLOCKS_TO_SETTLE);
  const transactions = await until(
    async () => list((await ask(`/transactions?session_id=${session.id}`)).data).map(record),
    ([first]) => first?.status === 'completed',
  );
  program.child.kill('SIGTERM');

  expect(transactions).toMatchObject([{ proven: true }]);
  expect(node.calls).not.toContain('eth_getBlockByHash');
  expect(await program.exited).toBe(0);
});
