import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { encodeFunctionData, erc20Abi, numberToHex, zeroAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operationsIn } from '../../scripts/contract/payments/operation.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { exampleTarget } from '../../src/contract/description/code-samples.ts';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import { build } from '../../src/lib/version.ts';
import { list, number, record, text } from '../lab/json.ts';
import { until } from '../lab/until.ts';
import { ANY_PORTS, type Entry, type Program, programs } from './programs.ts';

const PAYER = 7;
/** Limit of open files of the program, for the flood of connections. */
const DESCRIPTORS = 200;

/** A configuration without chains of its own. */
const embedded = (devnet: string) => `
${ANY_PORTS}
devnet: { ${devnet}, seed: 1 }
`;

function paymentsOf({ payments, nodes }: Entry) {
  const { url = '', key = '', create = '' } = payments ?? {};
  const node = nodes?.[0]?.url ?? '';
  const ask = async (path: string, body?: object): Promise<Record<string, unknown>> => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return record(await (await fetch(url + path, { headers, ...sent })).json());
  };
  return { url, key, create, node, ask };
}

describe('the embedded default', () => {
  const { startWithin } = programs({ before: beforeAll, after: afterAll });
  let program: Program;

  beforeAll(async () => {
    program = await startWithin(DESCRIPTORS, embedded('chains: 2, blocks: 45, trickle: 500ms'));
    await program.listening();
  });

  const adminUrl = () => program.log.findLast(({ msg }) => msg === 'listening')?.url;

  test('/readyz changes once while the chains are filled, from 503 to 200', async () => {
    const { url } = await program.listening();
    let left = Number.POSITIVE_INFINITY;
    const ready = program.ready().then(() => {
      left = 50;
    });

    const seen: number[] = [];
    while (left > 0) {
      const { status } = await fetch(`${url}/readyz`);
      if (status !== seen.at(-1)) seen.push(status);
      left -= 1;
      await delay(20);
    }
    await ready;

    expect(seen).toEqual([503, 200]);
  });

  test('both chains are served', async () => {
    const { url } = await program.ready();

    const chains: { chains: { id: number }[] } = JSON.parse(await (await fetch(`${url}/chains`)).text());
    const first = await fetch(`${url}/explorer/transactions`);
    const second = await fetch(`${url}/explorer/transactions?chain_id=31338`);
    const readiness = await fetch(`${url}/readyz`);

    expect(chains.chains.map(({ id }) => id)).toEqual([31337, 31338]);
    expect(JSON.parse(await first.text()).items).toHaveLength(50);
    expect(first.headers.get('x-chain-id')).toBe('31337');
    expect(second.headers.get('x-chain-id')).toBe('31338');
    expect(readiness.status).toBe(200);
  });

  test('the coin of both chains has a price, and their dollar a volume', async () => {
    const { url } = await program.ready();

    const query = `chain_id=31337&chain_id=31338&address=${zeroAddress}&symbol=USDS`;
    const answer = await fetch(`${url}/insights/v1/tokens/price?${query}`);
    const prices = list(record(await answer.json()).data).map(record);

    expect(answer.status).toBe(200);
    expect(prices).toMatchObject(
      [31_337, 31_338].flatMap(id => [
        { chain_id: id, address: zeroAddress, symbol: 'ETH' },
        { chain_id: id, symbol: 'USDS', price_usd: 1 },
      ]),
    );
    for (const price of prices) expect(number(price.volume_24h_usd)).toBeGreaterThan(0);
    for (const coin of [prices[0], prices[2]]) expect(number(coin?.price_usd)).toBeGreaterThan(1_000);
  });

  test('the first line of the log, /status and the metrics name the version and the commit', async () => {
    const { version, commit } = build();
    await program.ready();

    const status = await (await fetch(`${adminUrl()}/status`)).json();
    const metrics = await (await fetch(`${adminUrl()}/metrics`)).text();

    expect(program.log[0]).toMatchObject({ msg: 'starting', version, commit });
    expect(status).toMatchObject({ process: { version, commit } });
    expect(metrics).toContain(
      `tollgate_build_info{version="${version}",commit="${commit ?? 'unknown'}"} 1\n`,
    );
  });

  test('the deposit factory of each chain works', async () => {
    await program.ready();

    const offers = await until(
      async () => {
        const { payments } = record(await (await fetch(`${adminUrl()}/status`)).json());
        return list(record(payments).chains).map(chain => record(record(chain).deposit_addresses).is_offered);
      },
      all => !all.includes(false),
    );

    expect(offers).toEqual([true, true]);
  });

  test('metrics are served on the admin listener only', async () => {
    const { url } = await program.ready();
    await fetch(`${url}/explorer/blocks`);

    const onAdmin = await fetch(`${adminUrl()}/metrics`);
    const onData = await fetch(`${url}/metrics`);

    expect(await onAdmin.text()).toMatch(
      /tollgate_http_requests_total\{operation="listBlocks",status="200"\} 1/,
    );
    expect(onData.status).toBe(404);
  });

  test('the admin listener shows the progress of the chains of both services, without any address', async () => {
    await program.ready();
    const answer = await until(
      async () => (await fetch(`${adminUrl()}/status`)).text(),
      status => typeof JSON.parse(status).payments.chains[1].settled_block === 'number',
    );
    const { data, payments } = JSON.parse(answer);

    expect(data.chains).toMatchObject([
      { id: 31_337, backends: [{ name: 'index-31337', ready: true, head_block: expect.any(Number) }] },
      { id: 31_338, backends: [{ name: 'index-31338', ready: true, head_block: expect.any(Number) }] },
    ]);
    expect(payments.chains).toMatchObject(
      [31_337, 31_338].map(id => ({
        id,
        node: '127.0.0.1',
        late: false,
        head_block: expect.any(Number),
        settled_block: expect.any(Number),
      })),
    );
    expect(answer).not.toMatch(/:\/\/|127\.0\.0\.1:/);
  });

  test('the example requests of the data service are answered with 200', async () => {
    const { url } = await program.ready();
    const targets = [explorerContract, insightsContract].flatMap(contract =>
      operationsIn<unknown>(contract).map(operation => exampleTarget(operation)),
    );

    const statuses = await Promise.all(
      targets.map(async target => [target, (await fetch(url + target)).status]),
    );

    expect(statuses).toEqual(targets.map(target => [target, 200]));
  });

  test('the command in the log creates a link, and a payment of it completes a checkout', async () => {
    const { create, node, ask, url } = paymentsOf(await program.ready());

    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', create]);
    const link = record(JSON.parse(stdout));
    const page = await fetch(text(link.url));
    const session = await ask(`/api/v1/pay/links/${text(link.short_code)}/sessions`, {});
    const from = deriveAccounts().addresses[PAYER];
    const shop = text(session.recipient_address);
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [`0x${shop.slice(2)}`, BigInt(text(session.amount_due))],
    });
    const hash = await httpRpc(node).call('eth_sendTransaction', {
      from,
      to: text(record(session.token).address),
      data,
      gas: numberToHex(100_000),
      // The base fee of the chain is at most 40 gwei.
      maxFeePerGas: numberToHex(100n * 10n ** 9n),
      maxPriorityFeePerGas: numberToHex(10n ** 9n),
    });
    const state = await until(
      () => ask(`/api/v1/pay/sessions/${text(session.id)}/status`),
      ({ status }) => status === 'completed',
    );
    const events = await ask('/api/v1/events');
    const readiness = await fetch(`${url}/readyz`);

    expect(page.status).toBe(200);
    expect(state).toMatchObject({ status: 'completed', tx_hash: hash });
    expect(list(events.data).map(event => record(event).event)).toEqual([
      'checkout.completed',
      'payment.completed',
    ]);
    expect(number((await ask(`/api/v1/payment-links/${text(link.id)}`)).current_uses)).toBe(1);
    expect(readiness.status).toBe(200);
  });

  test('the dashboard address in the log opens one session of the demo shop', async () => {
    const { payments } = await program.ready();
    const [page, token] = text(payments?.dashboard).split('#token=');
    const signIn = async () => {
      const answer = await fetch(`${payments?.url}/dashboard/session`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ token }),
      });
      return [answer.status, record(await answer.json()).organization];
    };

    expect(page).toBe(`${payments?.url}/dashboard`);
    expect(await signIn()).toEqual([201, expect.objectContaining({ name: 'Demo shop' })]);
    expect(await signIn()).toEqual([401, undefined]);
    expect(program.log.filter(entry => JSON.stringify(entry).includes(text(token)))).toHaveLength(1);
  });

  test('a flood of connections leaves enough file descriptors for indexing and metrics', async () => {
    const { url } = await program.ready();
    const metrics = async () => (await fetch(`${adminUrl()}/metrics`)).text();
    const headIn = (page: string) =>
      Number(/tollgate_index_head_block\{chain="31337"\} (\d+)/.exec(page)?.[1]);
    const before = headIn(await metrics());

    const port = Number(new URL(url ?? '').port);
    const flood = Array.from({ length: 2 * DESCRIPTORS }, () =>
      connect(port, '127.0.0.1').on('error', () => undefined),
    );
    const after = await until(metrics, page => headIn(page) >= before + 2 && page.includes('reason="total"'));
    for (const socket of flood) socket.destroy();

    expect(headIn(after)).toBeGreaterThanOrEqual(before + 2);
    expect(Number(/tollgate_http_connections\{listener="data"\} (\d+)/.exec(after)?.[1])).toBeLessThanOrEqual(
      DESCRIPTORS / 2,
    );
    expect(after).toContain('tollgate_http_refused_connections_total{listener="data",reason="total"}');
    expect(JSON.stringify(program.log)).not.toContain('EMFILE');
  });

  test('SIGTERM stops it with 0 and leaves no files', async () => {
    const { url } = await program.ready();
    const state = await program.entry(({ folder }) => folder !== undefined);

    program.child.kill('SIGTERM');

    expect(await program.exited).toBe(0);
    expect(existsSync(state.folder ?? '')).toBe(false);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });
});

const { start, startByNpm } = programs();

/** True once the folder of a run is removed. A process that is stopped while it opens leaves that to another one. */
const isGone = ({ folder = '' }: Entry) => until(async () => !existsSync(folder), Boolean);

test('SIGINT during the fill stops it with 0, too', async () => {
  const program = await start(embedded('chains: 1, blocks: 300, trickle: 1s'));
  const state = await program.entry(({ folder }) => folder !== undefined);
  await program.listening();

  program.child.kill('SIGINT');

  expect(await program.exited).toBe(0);
  expect(await isGone(state)).toBe(true);
});

test('SIGTERM to npm only stops the server, too', async () => {
  const program = await startByNpm(embedded('chains: 1, blocks: 1, trickle: 1s'));
  const { url } = await program.ready();
  const state = await program.entry(({ folder }) => folder !== undefined);

  program.child.kill('SIGTERM');
  await program.exited;

  expect(await isGone(state)).toBe(true);
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

test('a chain on EDR is filled, indexed and served with its internal calls', async () => {
  const program = await start(embedded('chains: 1, blocks: 30, trickle: 0s, engine: edr'));
  const { url } = await program.ready();

  const answer = await fetch(`${url}/explorer/internal-transactions`);
  const [call] = list(record(await answer.json()).items);
  const trace = await fetch(`${url}/explorer/transactions/${text(record(call).transaction_hash)}/raw-trace`);

  expect(list(await trace.json()).length).toBeGreaterThan(1);
});

test('payments alone are served with embedded chains, and no file has the key', async () => {
  const program = await start(embedded('chains: 1, blocks: 1, trickle: 1s'), '--only', 'payments');
  const state = await program.entry(({ folder }) => folder !== undefined);
  const ready = await program.ready();
  const { key, ask } = paymentsOf(ready);

  const link = await ask('/api/v1/payment-links', { name: 'A' });
  const kept = readdirSync(state.folder ?? '').filter(name => name.startsWith('payments'));
  const holding = kept.filter(name => readFileSync(join(state.folder ?? '', name)).includes(key));
  program.child.kill('SIGTERM');
  const code = await program.exited;

  expect(ready.url).toBeUndefined();
  expect(link).toMatchObject({ object: 'payment_link', mode: 'test', chain_id: 31_337 });
  expect(kept).toEqual(expect.arrayContaining(['payments.db', 'payments.key']));
  expect(holding).toEqual([]);
  expect(code).toBe(0);
  expect(existsSync(state.folder ?? '')).toBe(false);
  expect(existsSync(join(program.folder, 'var'))).toBe(false);
});
