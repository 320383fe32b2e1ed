import { encodeFunctionData, type Hex } from 'viem';
import { fungibleAbi } from '../../src/devnet/activity/abis.ts';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { NATIVE_COIN } from '../../src/payments/model/payment-chain.ts';
import type { WatchedChain } from '../../src/payments/service.ts';
import { record } from '../lab/json.ts';
import { addressOf } from '../lab/payment-chain.ts';
import { startTestPayments } from '../lab/payments-service.ts';
import { startReceiver, type WebhookReceiver } from '../lab/webhook-receiver.ts';
import type { TestDatabases } from './databases.ts';
import { manualClock } from './manual-clock.ts';
import { type ApiClient, apiClient } from './payments-api.ts';
import {
  restorePayments,
  startUpgradeChain,
  UPGRADE_LIVE_CHAIN,
  UPGRADE_TOKEN,
  type UpgradeFacts,
  upgradeFacts,
  upgradeSecret,
  WRITTEN_UNTIL,
} from './upgrade-fixtures.ts';
import { untilTold } from './webhooks-api.ts';

const BLOCK_MS = 12_000;
/** More than the confirmations of the chain. */
const ENOUGH_BLOCKS = 10;

/** The current version of the service on the database of an earlier one, with the chain that it watched. */
export interface UpgradedPayments extends AsyncDisposable {
  readonly url: string;
  readonly facts: UpgradeFacts;
  readonly receiver: WebhookReceiver;
  /** A client with a key from the earlier version; a payer without one. */
  client(key?: keyof UpgradeFacts['keys']): ApiClient;
  /** Advances time until a value is as required, for at most ten real seconds. */
  until<T>(look: () => T | Promise<T>, isRight: (value: T) => boolean): Promise<T>;
  /** Mines blocks; the first one has the pending transactions. */
  mine(blocks?: number): Promise<void>;
  /** Sends a payment of tokens, or of coins if the session requires them, without mining it. */
  pay(from: number, session: string, amount?: bigint): Promise<void>;
  sendRaw(transaction: Hex): Promise<void>;
  /** The session's state after enough blocks on top of its payment. */
  settled(session: string): Promise<Record<string, unknown>>;
}

/** Starts the service on copies of the fixtures. */
export async function startUpgradedPayments(databases: TestDatabases): Promise<UpgradedPayments> {
  await using opened = new AsyncDisposableStack();
  const chain = opened.use(await startUpgradeChain());
  const receiver = opened.use(await startReceiver());
  const options = await databases.create();
  await restorePayments(options, receiver.url);
  const clock = manualClock(WRITTEN_UNTIL);
  const service = await startTestPayments(options, {
    publicUrl: 'https://pay.example.com',
    secretKey: { kind: 'value', value: upgradeSecret() },
    demo: undefined,
    chains: [
      watched({ id: chain.chainId, mode: 'test', rpcUrl: chain.rpcUrl }),
      watched({ id: UPGRADE_LIVE_CHAIN, mode: 'live', rpcUrl: 'http://127.0.0.1:9' }),
    ],
    clock,
  });
  // An ending worker may be waiting for this clock.
  opened.defer(async () => {
    const ticking = setInterval(() => clock.advance(1_000), 20);
    await service.close().finally(() => clearInterval(ticking));
  });
  const facts = upgradeFacts(databases.kind);
  const accounts = deriveAccounts();
  const client = (key?: keyof UpgradeFacts['keys']) =>
    apiClient(service.url, key === undefined ? undefined : facts.keys[key]);
  const { rpc } = chain;

  async function mine(blocks = 1): Promise<void> {
    for (let mined = 0; mined < blocks; mined++) {
      clock.advance(BLOCK_MS);
      await rpc.call('evm_mine', Math.floor(clock.now() / 1000));
    }
  }

  async function stateOf(session: string): Promise<Record<string, unknown>> {
    return record((await client().get(`/api/v1/pay/sessions/${session}/status`)).body);
  }

  const disposal = opened.move();
  return {
    url: service.url,
    facts,
    receiver,
    client,
    mine,
    until: (look, isRight) => untilTold(clock, look, isRight),
    sendRaw: async transaction => void (await rpc.call('eth_sendRawTransaction', transaction)),
    async pay(from, session, amount) {
      const { body } = await client().get(`/api/v1/pay/sessions/${session}`);
      const { token, recipient_address, amount_due } = record(body);
      const recipient = addressOf(String(recipient_address));
      const value = amount ?? BigInt(String(amount_due));
      const args = [recipient, value] as const;
      const transfer = encodeFunctionData({ abi: fungibleAbi, functionName: 'transfer', args });
      const signer = accounts.signer(from);
      const signed = await signer.signTransaction({
        type: 'eip1559',
        chainId: chain.chainId,
        nonce: Number(await rpc.call('eth_getTransactionCount', signer.address, 'pending')),
        gas: 120_000n,
        maxFeePerGas: 10n ** 11n,
        maxPriorityFeePerGas: 2n * 10n ** 9n,
        ...(record(token).address === NATIVE_COIN
          ? { to: recipient, value }
          : { to: addressOf(UPGRADE_TOKEN), data: transfer }),
      });
      await rpc.call('eth_sendRawTransaction', signed);
    },
    async settled(session) {
      await mine(ENOUGH_BLOCKS);
      return untilTold(
        clock,
        () => stateOf(session),
        ({ status }) => status !== 'active',
      );
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

function watched({ id, mode, rpcUrl }: { id: number; mode: 'test' | 'live'; rpcUrl: string }): WatchedChain {
  return {
    id,
    name: mode === 'test' ? 'Embedded chain A' : 'Base',
    mode,
    tokens: [
      { address: NATIVE_COIN, symbol: 'ETH', decimals: 18 },
      { address: UPGRADE_TOKEN, symbol: 'USDS', decimals: 6 },
    ],
    confirmations: 6,
    explorerUrl: undefined,
    rpcUrls: [rpcUrl],
    isOfThisRun: false,
  };
}
