import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Address, encodeFunctionData, erc20Abi, type Hex, parseEther, toHex } from 'viem';
import { test as base, expect, onTestFinished } from 'vitest';
import { execute } from '#db/query.ts';
import { CURRENT_FACTORY, forwarderAddress } from '#deposits/deposit-factory.ts';
import { PROXY, PROXY_CREATION } from '#deposits/deterministic-proxy.ts';
import { depositSalt } from '#deposits/salt.ts';
import { deriveAccounts } from '#devnet/chain/accounts.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { CHAIN_KINDS, type ChainKind } from '../lab/chain-kind.ts';
import { faultyNode } from '../lab/faulty-node.ts';
import { record, text } from '../lab/json.ts';
import { loopbackPort } from '../lab/loopback-server.ts';
import { addressOf, mineEvery, startPaymentChain, type TestPaymentChain } from '../lab/payment-chain.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { sqliteDatabase, urlOf } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';
import { PLACE, startPaymentsApi } from '../support/payments-api.ts';

const CHAIN_ID = 31_337;
const SEED: Hex = `0x${'5e'.repeat(32)}`;
const EPOCHS: readonly Hex[] = [`0x${'01'.repeat(32)}`, `0x${'02'.repeat(32)}`];
const RECIPIENT: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const SENDER = 5;

interface Run {
  readonly code: unknown;
  readonly out: string;
  readonly err: string;
}

/** Runs `tollgate` with arguments, and with a text as its standard input. */
function run(args: readonly string[], input = ''): Promise<Run> {
  const { promise, resolve } = Promise.withResolvers<Run>();
  const child = execFile(
    process.execPath,
    ['src/tollgate.js', ...args],
    { timeout: PATIENCE_MS },
    (error, out, err) => resolve({ code: error === null ? 0 : error.code, out, err }),
  );
  child.stdin?.end(input);
  return promise;
}

const test = base
  .extend('folder', async ({ task }, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), `deposits-${task.id}-`));
    onCleanup(() => rm(folder, { recursive: true }));
    return folder;
  })
  .extend('key', async ({ folder }) => {
    const file = join(folder, 'key');
    await writeFile(file, `${deriveAccounts().privateKey(SENDER)}\n`);
    return file;
  })
  .extend('seed', async ({ folder }) => {
    const file = join(folder, 'seed.json');
    await writeFile(file, JSON.stringify({ version: 1, seed: SEED, epochs: EPOCHS }));
    return file;
  })
  /** Starts a chain that mines by itself. */
  .extend('start', ({ task: _ }, { onCleanup }) => {
    const started = new AsyncDisposableStack();
    onCleanup(() => started.disposeAsync());
    return async (kind: ChainKind = CHAIN_KINDS[0]): Promise<TestPaymentChain> => {
      const chain = started.use(
        await startPaymentChain({ clock: manualClock(), chainId: CHAIN_ID, ...kind }),
      );
      started.use(mineEvery(50, () => chain.mine()));
      return chain;
    };
  });

const onChain = ({ rpcUrl }: TestPaymentChain) => ['--chain', String(CHAIN_ID), '--rpc', rpcUrl];
const deploy = (chain: TestPaymentChain, ...options: string[]) =>
  run(['deposit-factory', 'deploy', ...onChain(chain), ...options]);

function numbered(number: number, epoch = EPOCHS[0] ?? '0x'): Address {
  return forwarderAddress({ recipient: RECIPIENT, salt: depositSalt({ seed: SEED, epoch, number }) });
}

async function balance(chain: TestPaymentChain, holder: Address, token?: Address): Promise<bigint> {
  if (token === undefined) return BigInt(String(await chain.call('eth_getBalance', holder, 'latest')));
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [holder] });
  return BigInt(String(await chain.call('eth_call', { to: token, data }, 'latest')));
}

test.for(CHAIN_KINDS)(
  'the factory is deployed once, by any account, on $engine with the rules of $hardfork',
  async (kind, { start, key }) => {
    const chain = await start(kind);

    const first = await deploy(chain, '--key', key);
    const second = await deploy(chain);

    expect([first.code, first.err, second.code, second.err]).toEqual([0, '', 0, '']);
    const at = `factory version 1 at ${CURRENT_FACTORY.address}`;
    expect(first.out).toMatch(
      new RegExp(
        `^sending  transaction 0x\\w{64}\n${at}: deployed by 0x\\w{64} with \\d+ gas, and creates addresses`,
      ),
    );
    expect(second.out).toBe(`${at}: is deployed, and creates addresses as computed offline\n`);
  },
);

test('an account without coins and a number that is no key are refused', async ({ start, folder }) => {
  const chain = await start();
  const [poor, wrong] = [join(folder, 'poor'), join(folder, 'wrong')];
  await writeFile(poor, `0x${'1b'.repeat(32)}`);
  await writeFile(wrong, 'f'.repeat(64));

  const unpaid = await deploy(chain, '--key', poor);
  const refused = await deploy(chain, '--key', wrong);

  expect([unpaid.code, unpaid.out, refused.code]).toEqual([1, '', 2]);
  expect(unpaid.err).toMatch(/^0x\w{40} has no coins on chain 31337 to pay for gas\.\n$/);
  expect(refused.err).toContain(`--key: ${wrong} holds a number that is no private key\n`);
  expect(unpaid.err + refused.err).not.toMatch(/1b1b|ffff/);
});

test('a chain without the proxy gets it first', async ({ start, key }) => {
  const chain = await start();
  await chain.call('anvil_setCode', PROXY, '0x');

  const { code, out } = await deploy(chain, '--key', key);

  expect(code).toBe(0);
  expect(out).toMatch(
    /^sending .*\nproxy at 0x4e59b44847b379578588920ca78fbf26c0b4956c: created by 0x\w{64}\nsending .*\nfactory version 1 /,
  );
});

test('a chain that asks for more gas than the transaction of the proxy has says so, and nothing is paid', async ({
  start,
  key,
}) => {
  const chain = await start({ engine: 'edr', hardfork: 'amsterdam' });
  await chain.call('hardhat_setCode', PROXY, '0x');
  const before = await balance(chain, deriveAccounts().signer(SENDER).address);

  const { code, err } = await deploy(chain, '--key', key);

  expect(code).toBe(1);
  expect(err).toMatch(
    /asks for \d+ gas to create it, but its transaction has 100000. Only the chain itself can add it/,
  );
  expect(await balance(chain, deriveAccounts().signer(SENDER).address)).toBe(before);
});

test('other code at the address of the factory is refused, and so is a node of another chain', async ({
  start,
  key,
}) => {
  const chain = await start();
  await chain.call('anvil_setCode', CURRENT_FACTORY.address, '0x00');

  const strange = await deploy(chain, '--key', key);
  const other = await run(['deposit-factory', 'deploy', '--chain', '5', '--rpc', chain.rpcUrl]);
  const none = await run(['deposit-factory', 'deploy', '--chain', '5', '--rpc', 'http://127.0.0.1:9']);

  expect([strange.code, strange.err]).toEqual([
    1,
    expect.stringMatching(/cannot have deposit addresses: .* has other code\.\n$/),
  ]);
  expect([other.code, other.err]).toEqual([1, 'The node serves chain 31337, but chain 5 is configured.\n']);
  expect([none.code, none.err]).toEqual([1, 'The node 127.0.0.1 cannot be reached.\n']);
});

test('a sweep finds coins and tokens by the seed alone, and pays all of them to the recipient', async ({
  start,
  key,
  seed,
}) => {
  const chain = await start();
  await deploy(chain, '--key', key);
  await chain.send({ from: 1, to: numbered(0), value: parseEther('1.5') });
  await chain.send({ from: 1, to: numbered(7, EPOCHS[1]), value: parseEther('2') });
  await chain.send({ from: 1, to: numbered(9), value: parseEther('3') });
  await chain.pay({ from: 1, to: numbered(0), amount: 2_500_000n });
  await chain.pay({ from: 1, to: numbered(3), amount: 999n });
  await chain.mine();
  const token = ['--token', chain.token];
  const scan = [
    'sweep',
    '--seed',
    seed,
    '--recipient',
    RECIPIENT,
    '--scan',
    '0..8',
    ...onChain(chain),
    ...token,
  ];
  const [coins, tokens] = [await balance(chain, RECIPIENT), await balance(chain, RECIPIENT, chain.token)];

  const dry = await run([...scan, '--dry-run']);
  const most = await run([...scan, '--min', `${chain.token}=0.001`, '--key', key]);
  const rest = await run([...scan, '--key', '-'], deriveAccounts().privateKey(SENDER));
  const nothing = await run([...scan, '--key', key]);

  expect([dry.code, most.code, rest.code, nothing.code, dry.err, most.err]).toEqual([0, 0, 0, 0, '', '']);
  expect(dry.out.match(/^would pay .*$/gm)).toHaveLength(4);
  expect(most.out.match(/^paid .*$/gm)).toEqual([
    `paid  ${numbered(0)}  number 0  1.5 coins`,
    expect.stringMatching(new RegExp(`^paid  ${numbered(0)}  number 0  2.5 ${chain.token}$`, 'i')),
    `paid  ${numbered(7, EPOCHS[1])}  number 7  2 coins`,
  ]);
  expect(most.out).toMatch(/^transaction 0x\w{64}: \d+ gas$/m);
  expect(rest.out).toMatch(new RegExp(`^paid  ${numbered(3)}  number 3  0.000999 ${chain.token}$`, 'im'));
  expect(nothing.out).toBe('no address holds anything\n');
  expect((await balance(chain, RECIPIENT)) - coins).toBe(parseEther('3.5'));
  expect((await balance(chain, RECIPIENT, chain.token)) - tokens).toBe(2_500_999n);
  expect(await balance(chain, numbered(9))).toBe(parseEther('3'));
});

test('a recipient with code is paid on another chain only if the same contract with the same owners is there', async ({
  start,
  folder,
  key,
  seed,
}) => {
  const here = await start();
  await using issued = await startPaymentChain({ clock: manualClock(), chainId: 31_338 });
  await deploy(here, '--key', key);
  await here.send({ from: 1, to: numbered(0), value: 7n });
  await here.mine();
  const file = join(folder, 'tollgate.yaml');
  const nodes = [
    [CHAIN_ID, here.rpcUrl],
    [31_338, issued.rpcUrl],
  ] as const;
  const chains = nodes.map(([id, url]) => ({
    id,
    name: `Chain ${id}`,
    native: { symbol: 'ETH' },
    confirmations: 1,
    rpc: [url],
  }));
  await writeFile(file, JSON.stringify({ payments: { secretKeyFile: key }, chains }));
  // Answers every call with the word in slot 5, as a wallet answers with its owners.
  const code = '0x60055460005260206000f3';
  const slot = toHex(5, { size: 32 });
  const scan = ['sweep', '--seed', seed, '--recipient', RECIPIENT, '--scan', '0..0', '--config', file];
  const sweep = () => run([...scan, '--chain', String(CHAIN_ID), '--issued-for', '31338', '--key', key]);

  await issued.call('anvil_setCode', RECIPIENT, code);
  const absent = await sweep();
  await here.call('anvil_setCode', RECIPIENT, code);
  await here.call('anvil_setStorageAt', RECIPIENT, slot, toHex(1, { size: 32 }));
  const owned = await sweep();
  await here.call('anvil_setStorageAt', RECIPIENT, slot, toHex(0, { size: 32 }));
  const same = await sweep();

  expect([absent.code, absent.err, owned.code, owned.err]).toEqual([1, '', 1, '']);
  expect(absent.out).toContain(`: ${RECIPIENT} is a contract on chain 31338, and its code differs on chain`);
  expect(owned.out).toContain('and its owners differ on chain 31337 and chain 31338: money');
  expect(absent.out + owned.out).not.toMatch(/^(sending|paid)/m);
  expect([same.code, same.err]).toEqual([0, '']);
  expect(same.out).toMatch(/^paid /m);
});

test('the addresses of ended checkouts are swept from the payments database alone', async ({
  start,
  folder,
  key,
}) => {
  const chain = await start();
  await deploy(chain, '--key', key);
  const database = await sqliteDatabase('payments');
  await using stack = new AsyncDisposableStack();
  stack.defer(database.remove);
  const api = stack.use(await startPaymentsApi(database.options));
  const shop = await api.merchant();
  const issue = async (changes: object = {}) => {
    const terms = {
      ...PLACE,
      token_address: NATIVE_COIN,
      recipient_address: RECIPIENT,
      amount: '7',
      ...changes,
    };
    const { body } = await shop.post('/api/v1/checkout-sessions', {
      ...terms,
      payment_method: 'deposit_address',
    });
    const { id, deposit_address } = record(body);
    await chain.send({ from: 1, to: addressOf(text(deposit_address)), value: 7n });
    return { id: text(id), address: text(deposit_address) };
  };
  const [ended, open, unknown] = [await issue(), await issue(), await issue()];
  await chain.mine();
  for (const { id } of [ended, unknown]) await shop.post(`/api/v1/checkout-sessions/${id}/expire`);
  for (const { address } of [ended, open])
    await execute(api.db, "update deposit_addresses set amount_received = '017' where address = ?", [
      address.toLowerCase(),
    ]);
  const file = join(folder, 'tollgate.yaml');
  const chains = [{ id: CHAIN_ID, name: 'Local', native: { symbol: 'ETH' }, rpc: [chain.rpcUrl] }];
  const payments = { database: urlOf(database.options), secretKeyFile: key };
  await writeFile(file, JSON.stringify({ payments, chains }));
  const sweep = ['sweep', '--chain', String(CHAIN_ID), '--config', file];

  const known = await run([...sweep, '--key', key]);
  const other = await run([...sweep, '--all', '--recipient', CURRENT_FACTORY.address, '--dry-run']);
  const all = await run([...sweep, '--all', '--key', key]);
  const scanned = await run([...sweep, '--scan', '0..9', '--key', key]);

  const paid = ({ id, address }: typeof ended) =>
    `paid  ${address}  checkout ${id}  0.000000000000000007 ETH`;
  expect([known.code, known.err, all.code, scanned.code]).toEqual([0, '', 0, 2]);
  expect(known.out.match(/^paid .*$/gm)).toEqual([paid(ended)]);
  expect(known.out).toMatch(/^sending {2}transaction 0x\w{64}$/m);
  expect(other.out).toBe('no address holds anything\n');
  expect(all.out.match(/^paid .*$/gm)).toEqual([paid(unknown)]);
  expect(scanned.err).toContain('--scan needs --seed');
});

test('what the recipient refuses is left, and the rest is paid', async ({ start, key, seed }) => {
  const chain = await start();
  await deploy(chain, '--key', key);
  await chain.call('anvil_setCode', RECIPIENT, '0x60006000fd');
  await chain.send({ from: 2, to: numbered(0), value: 5n });
  await chain.pay({ from: 2, to: numbered(0), amount: 1_000_000n });
  await chain.mine();
  const scan = ['--seed', seed, '--recipient', RECIPIENT, '--scan', '0..0', '--token', chain.token];

  const { code, out } = await run(['sweep', ...scan, ...onChain(chain), '--key', key]);

  expect(code).toBe(1);
  expect(out).toContain(
    `left  ${numbered(0)}  number 0  0.000000000000000005 coins: the token or the recipient refuses`,
  );
  expect(out).toMatch(/^paid .* 1 0x\w{40}$/m);
});

test('more addresses than a transaction has gas for are swept in several', async ({ start, key, seed }) => {
  const chain = await start({ engine: 'edr', hardfork: 'amsterdam' });
  await deploy(chain, '--key', key);
  for (let number = 0; number < 40; number += 1)
    await chain.send({ from: 1, to: numbered(number), value: 7n });
  await chain.mine();
  const scan = ['--seed', seed, '--recipient', RECIPIENT, '--scan', '0..39'];

  const { code, out } = await run(['sweep', ...scan, ...onChain(chain), '--key', key]);

  expect(code).toBe(0);
  expect(out.match(/^paid /gm)).toHaveLength(40);
  expect(out.match(/^transaction /gm)?.length).toBeGreaterThan(1);
});

test('an epoch or a token that is named twice is swept once', async ({ start, key, folder }) => {
  const chain = await start();
  await deploy(chain, '--key', key);
  await chain.send({ from: 1, to: numbered(0), value: 7n });
  await chain.pay({ from: 1, to: numbered(0), amount: 1_000_000n });
  await chain.mine();
  const file = join(folder, 'twice.json');
  const epochs = EPOCHS.flatMap(epoch => [epoch, `0x${epoch.slice(2).toUpperCase()}`]);
  await writeFile(file, JSON.stringify({ version: 1, seed: SEED, epochs }));
  const tokens = ['--token', chain.token, '--token', chain.token.toLowerCase()];
  const scan = ['--seed', file, '--recipient', RECIPIENT, '--scan', '0..0', ...tokens];

  const { code, out } = await run(['sweep', ...scan, ...onChain(chain), '--key', key]);

  expect(code).toBe(0);
  expect(out.match(/^paid /gm)).toHaveLength(2);
});

test('a sweep that another one overtakes says so', async ({ start, key, seed, folder }) => {
  const chain = await start();
  await deploy(chain, '--key', key);
  await chain.send({ from: 1, to: numbered(0), value: 7n });
  await chain.mine();
  const faster = join(folder, 'faster');
  await writeFile(faster, deriveAccounts().privateKey(SENDER + 1));
  const scan = ['sweep', '--seed', seed, '--recipient', RECIPIENT, '--scan', '0..0'];
  await using node = await faultyNode(chain.rpcUrl);
  node.tell(async ({ method }) => {
    if (method === 'eth_getTransactionCount') await run([...scan, ...onChain(chain), '--key', faster]);
  });

  const { code, out } = await run([...scan, '--chain', String(CHAIN_ID), '--rpc', node.url, '--key', key]);

  expect(code).toBe(0);
  expect(out).toContain(
    `gone  ${numbered(0)}  number 0  0.000000000000000007 coins: another sweep was first\n`,
  );
});

test('a transaction is named before it is sent, so that it can be found when the node fails', async ({
  start,
  key,
  seed,
}) => {
  const chain = await start();
  await deploy(chain, '--key', key);
  await chain.send({ from: 1, to: numbered(0), value: 7n });
  await chain.mine();
  const scan = ['sweep', '--seed', seed, '--recipient', RECIPIENT, '--scan', '0..0', '--key', key];
  await using node = await faultyNode(chain.rpcUrl);
  node.tell(({ method }) => (method === 'eth_sendRawTransaction' ? new Error('out of order') : undefined));

  const { code, out } = await run([...scan, '--chain', String(CHAIN_ID), '--rpc', node.url]);

  const [, hash] = /^sending {2}transaction (0x\w{64})$/m.exec(out) ?? [];
  expect(code).toBe(1);
  await expect.poll(() => chain.call('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' });
});

test('an account with too few coins is named, and what it needs', async ({ start, key, seed, folder }) => {
  const chain = await start();
  await deploy(chain, '--key', key);
  await chain.send({ from: 1, to: numbered(0), value: 7n });
  await chain.mine();
  const poor = join(folder, 'poor');
  await writeFile(poor, deriveAccounts().privateKey(SENDER + 1));
  await chain.call('anvil_setBalance', deriveAccounts().signer(SENDER + 1).address, '0x5');
  const scan = ['sweep', '--seed', seed, '--recipient', RECIPIENT, '--scan', '0..0'];

  const { code, err } = await run([...scan, ...onChain(chain), '--key', poor]);

  expect(code).toBe(1);
  expect(err).toMatch(
    /^0x\w{40} has 0\.000000000000000005 coins on chain 31337, and the transaction may cost 0\.\d+ coins\.\n$/,
  );
});

test('a node that refuses the transaction of the proxy does not hide where the coins are', async ({
  start,
  key,
}) => {
  const chain = await start();
  await chain.call('anvil_setCode', PROXY, '0x');
  await using node = await faultyNode(chain.rpcUrl);
  node.tell(({ method, params }) =>
    method === 'eth_sendRawTransaction' && params?.[0] === PROXY_CREATION.raw
      ? new Error('only replay-protected transactions')
      : undefined,
  );

  const to = ['--chain', String(CHAIN_ID), '--rpc', node.url];
  const { code, err } = await run(['deposit-factory', 'deploy', ...to, '--key', key]);

  expect(code).toBe(1);
  expect(err).toMatch(
    /^The node refused the transaction of the proxy: only replay-protected transactions\. /,
  );
  expect(err).toContain(`coins for it stay at ${PROXY_CREATION.sender}`);
});

test('a sweep needs a factory, and says how to deploy it', async ({ start, seed }) => {
  const chain = await start();

  const scan = ['--seed', seed, '--recipient', RECIPIENT, '--scan', '0..0', '--dry-run'];
  const { code, err } = await run(['sweep', ...scan, ...onChain(chain)]);

  expect(code).toBe(1);
  expect(err).toBe(
    'Chain 31337 has no deposit factory; deploy it with "tollgate deposit-factory deploy --chain 31337".\n',
  );
});

test('an address is proven from its salt, its number or a file', async ({ seed, folder }) => {
  const salt = depositSalt({ seed: SEED, epoch: EPOCHS[1] ?? '0x', number: 12 });
  const address = numbered(12, EPOCHS[1]);
  const statement = { address, recipient: RECIPIENT, salt, factory_version: 1 };
  const file = join(folder, 'address.json');
  await writeFile(file, JSON.stringify(statement));
  const named = ['verify-address', address, '--recipient', RECIPIENT];

  const runs = [
    await run([...named, '--salt', salt]),
    await run([...named, '--seed', seed, '--number', '12']),
    await run(['verify-address', file]),
    await run(['verify-address', file, '--recipient', RECIPIENT]),
    await run(
      ['verify-address', '-'],
      JSON.stringify({ ...statement, recipient: undefined, recipient_address: RECIPIENT }),
    ),
  ];

  for (const { code, out, err } of runs) {
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(
      `proven: ${address} can only pay ${RECIPIENT}\n` +
        `  factory version 1 at ${CURRENT_FACTORY.address}, salt ${salt}\n`,
    );
  }
});

test('another recipient, salt or number is refused', async ({ seed }) => {
  const salt = depositSalt({ seed: SEED, epoch: EPOCHS[0] ?? '0x', number: 1 });
  const address = numbered(1);
  const runs = [
    await run(['verify-address', address, '--recipient', CURRENT_FACTORY.address, '--salt', salt]),
    await run(['verify-address', address, '--recipient', RECIPIENT, '--salt', `0x${'11'.repeat(32)}`]),
    await run(['verify-address', address, '--recipient', RECIPIENT, '--seed', seed, '--number', '2']),
    await run(
      ['verify-address', '-'],
      JSON.stringify({ address: numbered(2), recipient: RECIPIENT, salt, factory_version: 1 }),
    ),
  ];

  for (const { code, out, err } of runs) {
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^0x\w{40} does not follow from this factory, recipient and salt\.\n$/);
  }
});

test('a file about another recipient than the stated one is refused', async () => {
  const salt = depositSalt({ seed: SEED, epoch: EPOCHS[0] ?? '0x', number: 1 });
  const statement = { address: numbered(1), recipient: RECIPIENT, salt, factory_version: 1 };
  const other = CURRENT_FACTORY.address;

  const { code, err } = await run(['verify-address', '-', '--recipient', other], JSON.stringify(statement));

  expect([code, err]).toEqual([1, `${numbered(1)} is said to pay ${RECIPIENT}, and not ${other}.\n`]);
});

test('the address of a session is proven by what its server says', async () => {
  const salt = depositSalt({ seed: SEED, epoch: EPOCHS[0] ?? '0x', number: 1 });
  const address = numbered(1);
  const statement = { address, recipient_address: RECIPIENT, salt, factory_version: 1 };
  const answers: Readonly<Record<string, object>> = {
    '/api/v1/checkout-sessions/cs_1': { deposit_address: address },
    '/api/v1/checkout-sessions/cs_false': { deposit_address: numbered(2) },
    '/api/v1/checkout-sessions/cs_exact': { deposit_address: null },
    [`/api/v1/deposit-addresses/${address}`]: statement,
    [`/api/v1/deposit-addresses/${numbered(2)}`]: statement,
  };
  const server = createServer(({ url = '', headers }, response) => {
    const isKnown = headers.authorization === 'Bearer key';
    response.end(JSON.stringify(isKnown ? answers[url] : {}));
  });
  const url = `http://127.0.0.1:${await loopbackPort(server)}`;
  onTestFinished(() => void server.close());
  const verify = (id: string, ...more: readonly string[]) =>
    run(['verify-address', id, '--url', url, '--key', 'key', ...more]);

  const proven = await verify('cs_1', '--recipient', RECIPIENT);
  const refused = [
    await verify('cs_1', '--recipient', CURRENT_FACTORY.address),
    await verify('cs_false'),
    await verify('cs_exact'),
  ];

  expect(proven).toMatchObject({ code: 0, err: '' });
  expect(proven.out).toContain(`proven: ${address} can only pay ${RECIPIENT}\n`);
  expect(refused.map(({ code, err }) => [code, err])).toEqual([
    [1, `${address} is said to pay ${RECIPIENT}, and not ${CURRENT_FACTORY.address}.\n`],
    [1, `The server was asked about ${numbered(2)}, and answered about ${address}.\n`],
    [1, 'The session cs_exact has no deposit address: it asks for an exact amount.\n'],
  ]);
});

test('a key or a seed in place of a file is not repeated', async ({ start, seed }) => {
  const chain = await start();
  const secret = 'ab'.repeat(32);
  const words = `${'test '.repeat(11)}junk`;
  const scan = ['sweep', '--recipient', RECIPIENT, '--scan', '0..1', ...onChain(chain)];
  const runs = [
    await deploy(chain, '--key', secret),
    await deploy(chain, '--key', `0x${secret}`),
    await deploy(chain, '--key', words),
    await run([...scan, '--dry-run', '--seed', `{"version":1,"seed":"0x${secret}"}`]),
    await run([
      'verify-address',
      RECIPIENT,
      '--recipient',
      RECIPIENT,
      '--number',
      '1',
      '--seed',
      `0x${secret}`,
    ]),
  ];

  for (const { code, out, err } of runs) {
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^A file cannot be read\. Its name is not repeated, because it may be a key/);
    expect(err).not.toMatch(/abab|junk/);
  }
  const positional = await run(['deposit-factory', 'deploy', secret]);
  expect([positional.code, positional.err]).toEqual([2, expect.not.stringContaining(secret)]);
  expect((await run([...scan, '--dry-run', '--seed', `${seed}.old`])).err).toBe(
    `${seed}.old cannot be read.\n`,
  );
});

test('wrong arguments are named, and no message has a key or a seed', async ({ folder, seed, key }) => {
  const secret = 'ab'.repeat(31);
  const file = join(folder, 'bad');
  await writeFile(file, JSON.stringify({ version: 1, seed: `0x${secret}`, epochs: [] }));
  const rpc = ['--chain', '1', '--rpc', 'http://127.0.0.1:9'];
  const scan = ['sweep', '--recipient', RECIPIENT, '--scan', '0..1', ...rpc];
  const cases: readonly (readonly [args: readonly string[], code: number, said: RegExp])[] = [
    [['deposit-factory', 'destroy'], 2, /there is no command destroy; did you mean deploy\?/],
    [['deposit-factory', 'deploy', '--rpc', 'http://127.0.0.1:9'], 2, /--chain is missing/],
    [
      ['deposit-factory', 'deploy', '--chain', '1'],
      2,
      /--config is missing, and so are TOLLGATE_CONFIG and --rpc/,
    ],
    [['deposit-factory', 'deploy', '--chain', '1', '--rpc', 'here'], 2, /--rpc must be an address/],
    [[...scan, '--seed', file, '--key', key], 1, /seed must be 0x followed by 64 hexadecimal digits/],
    [[...scan, '--seed', seed], 2, /--key is missing, or --dry-run/],
    [
      ['sweep', '--recipient', RECIPIENT, '--seed', seed, '--dry-run', ...rpc],
      2,
      /--scan: must be FROM\.\.TO/,
    ],
    [
      ['sweep', '--recipient', '0x12', '--seed', seed, '--dry-run', ...rpc],
      2,
      /--recipient: must be 0x followed by 40/,
    ],
    [['verify-address', `0x${'00'.repeat(20)}`], 2, /must not be the zero address/],
    [['verify-address', RECIPIENT, '--recipient', RECIPIENT], 2, /--salt is missing, or --seed and --number/],
    [
      [
        'verify-address',
        RECIPIENT,
        '--recipient',
        RECIPIENT,
        '--salt',
        addressOf(`0x${'11'.repeat(32)}`),
        '--factory-version',
        '2',
      ],
      2,
      /no version 2/,
    ],
    [['verify-address', file], 2, /address: must be 0x followed by 40/],
    [['deposit-factory'], 2, /^a command is missing: deploy\n/],
    [['verify-address', file, '--salt', '0x1'], 2, /--salt: a file says it by itself/],
    [['verify-address', 'cs_1', '--number', '1'], 2, /--number: a session says it by itself/],
    [['verify-address', file, '--url', 'http://127.0.0.1:9'], 2, /--url: only a session is asked for/],
    [['verify-address', '-', '--factory-version', '1'], 2, /--factory-version: a file says it by itself/],
    [
      [
        'verify-address',
        RECIPIENT,
        '--recipient',
        RECIPIENT,
        '--seed',
        seed,
        '--number',
        '1',
        '--salt',
        '0x1',
      ],
      2,
      /only one of --salt and --seed can be given/,
    ],
  ];
  for (const [args, code, said] of cases) {
    const { err, ...result } = await run(args);

    expect([result.code, result.out], args.join(' ')).toEqual([code, '']);
    expect(err).toMatch(said);
    expect(err).not.toContain(secret);
  }
});
