import { createServer } from 'node:http';
import { type Hex, hashMessage } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#lib/clock.ts';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { createChainClient } from '../../src/node/client.ts';
import { signatureJudge } from '../../src/node/wallet-signature.ts';
import { faultyNode } from '../lab/faulty-node.ts';
import { startPaymentChain, type TestPaymentChain } from '../lab/payment-chain.ts';
import { PATIENCE_MS } from '../lab/until.ts';

const log = createLogger({ level: 'silent' });
const MESSAGE = 'I pay for cs_1 with 0xabc';
const accounts = deriveAccounts();
const signer = accounts.signer(1);
const CONTRACT = '0x00000000000000000000000000000000000c0de1';
const REFUSING = '0x00000000000000000000000000000000000c0de2';
const REVERTING = '0x00000000000000000000000000000000000c0de3';
let chain: TestPaymentChain;

/** Answers a call that contains this word with this answer, and any other call with zeros. */
function answering(word: Hex, answer: string): Hex {
  // PUSH32 word, CALLDATALOAD(4), EQ, PUSH1 0x30 JUMPI, STOP …, JUMPDEST, PUSH4 answer << 224, MSTORE(0), RETURN(0, 32).
  const check = `7f${word.slice(2)}60043514603057`;
  const padding = '00'.repeat(0x30 - check.length / 2);
  return `0x${check}${padding}5b63${answer}60e01b60005260206000f3`;
}

beforeAll(async () => {
  chain = await startPaymentChain({ clock: systemClock });
  await chain.call('anvil_setCode', CONTRACT, answering(hashMessage(MESSAGE), '1626ba7e'));
  await chain.call('anvil_setCode', REFUSING, answering(hashMessage(MESSAGE), 'ffffffff'));
  await chain.call('anvil_setCode', REVERTING, '0x60006000fd');
});
afterAll(() => chain.stop());

function judge(rpcUrl: string, timeoutMs = PATIENCE_MS, deadlineMs = PATIENCE_MS) {
  const client = createChainClient({ id: chain.chainId, rpcUrls: [rpcUrl], timeoutMs, log });
  const ofChain = signatureJudge(id => (id === chain.chainId ? client : undefined), { deadlineMs });
  return (address: string, signature: string, message = MESSAGE) =>
    ofChain({ chainId: chain.chainId, address, message, signature });
}

test('an account’s signature is checked without a node, in any letter case of the address', async () => {
  const byAccount = judge('http://127.0.0.1:9');
  const signature = await signer.signMessage({ message: MESSAGE });

  expect(await byAccount(signer.address, signature)).toBe(true);
  expect(await byAccount(signer.address.toLowerCase(), signature)).toBe(true);
});

test('a signature of another text or another account, or a malformed one, is invalid', async () => {
  const byAnyone = judge(chain.rpcUrl);
  const signature = await signer.signMessage({ message: MESSAGE });
  const malformed = [
    '',
    '0x',
    '0x0',
    'hello',
    `0x${'zz'.repeat(65)}`,
    `0x${'00'.repeat(65)}`,
    `0x${'ff'.repeat(65)}`,
  ];

  expect(await byAnyone(signer.address, signature, `${MESSAGE}!`)).toBe(false);
  expect(await byAnyone(accounts.signer(2).address, signature)).toBe(false);
  for (const text of [...malformed, `0x${'00'.repeat(100_000)}`]) {
    expect(await byAnyone(signer.address, text)).toBe(false);
    expect(await byAnyone(CONTRACT, text, 'another text')).toBe(false);
  }
});

test('a contract checks its own signatures; without a positive answer a signature is invalid', async () => {
  const byContract = judge(chain.rpcUrl);
  const signature = `0x${'12'.repeat(96)}`;

  expect(await byContract(CONTRACT, signature)).toBe(true);
  expect(await byContract(CONTRACT, signature, 'another text')).toBe(false);
  expect(await byContract(REFUSING, signature)).toBe(false);
  expect(await byContract(REVERTING, signature)).toBe(false);
  expect(await byContract(`0x${'c0'.repeat(20)}`, signature)).toBe(false);
  expect(
    await signatureJudge(() => undefined)({ chainId: 1, address: CONTRACT, message: MESSAGE, signature }),
  ).toBe(false);
});

test('an address that echoes its input has signed nothing', async () => {
  // The precompile that copies its input, which begins with the bytes of a positive answer.
  const copying = '0x0000000000000000000000000000000000000004';

  expect(await judge(chain.rpcUrl)(copying, '0x1234')).toBe(false);
});

test('where only an account can have signed, no contract is called', async () => {
  const client = createChainClient({
    id: chain.chainId,
    rpcUrls: [chain.rpcUrl],
    timeoutMs: PATIENCE_MS,
    log,
  });
  const ask = signatureJudge(() => client, { deadlineMs: PATIENCE_MS });
  const signed = { chainId: chain.chainId, address: CONTRACT, message: MESSAGE, signature: '0x1234' };

  expect(await ask(signed)).toBe(true);
  expect(await ask({ ...signed, isAccount: true })).toBe(false);
});

test('when only the chain can decide and its node is unavailable or silent, the check is unavailable', async () => {
  const silent = createServer(() => {});
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const signature = `0x${'12'.repeat(96)}`;

  const unavailable = (message: string) =>
    expect.objectContaining({ name: 'Unavailable', message: expect.stringContaining(message) });
  await expect(judge('http://127.0.0.1:9')(CONTRACT, signature)).rejects.toEqual(unavailable(''));
  const ofSilent = judge(`http://127.0.0.1:${port}`, PATIENCE_MS, 200);
  await expect(ofSilent(CONTRACT, signature)).rejects.toEqual(unavailable('200 ms'));
  silent.closeAllConnections();
  silent.close();
});

test('an error of the node that is not the contract’s is no answer', async () => {
  await using node = await faultyNode(chain.rpcUrl);
  const failure = Object.assign(new Error('header not found'), { code: -32_000 });
  node.tell(({ method }) => (method === 'eth_call' ? failure : undefined));

  const asked = judge(node.url)(CONTRACT, `0x${'12'.repeat(96)}`);

  await expect(asked).rejects.toMatchObject({ name: 'Unavailable' });
});
