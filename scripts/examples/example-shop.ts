import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject } from '#contract/contracts/document.ts';
import { paymentsContract } from '#contract/contracts/payments.ts';
import { exampleTarget } from '#contract/description/code-samples.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { isObject } from '#lib/json.ts';
import type { WatchedChain } from '#payments/service.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { type BotApi, startBotApi } from '../../test/lab/bot-api.ts';
import { demoSignIn } from '../../test/lab/dashboard-session.ts';
import { TEST_END_TIME } from '../../test/lab/devnet.ts';
import { LOOPBACK_ONLY, startTestPayments } from '../../test/lab/payments-service.ts';
import { startReceiver, type WebhookReceiver } from '../../test/lab/webhook-receiver.ts';
import { isKeyed, type Operation, operationsIn } from '../contract/payments/operation.ts';
import { type RecordNames, recordNames } from './record-names.ts';
import { type RecordedExamples, shortened } from './recorded.ts';

/** Addresses of the embedded default, which appear in responses. */
const DATA_URL = 'http://127.0.0.1:3000';
const PAYMENTS_URL = 'http://127.0.0.1:3001';
const RECEIVER = 'https://books.example/hooks';
const STEP_MS = 1_000;
const LIMITS = { standard: 1_000, elevated: 10_000 };

/** Request to an operation, where its example request is not enough. */
interface Asking {
  /** Path parameters in place of the latest records. */
  readonly at?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** Parameters of a request that needs some, such as `session_id=cs_1`. */
  readonly query?: string;
  /** True when another response of this operation is the example. */
  readonly isUnrecorded?: boolean;
}

/** Payments service over an embedded chain. Requests run one after the other, and their responses are recorded. */
export interface ExampleShop extends AsyncDisposable {
  /** Address of the service. */
  readonly url: string;
  /** Key with all permissions. */
  readonly key: string;
  /** Token of a new address that signs in to the dashboard. */
  signInToken(): Promise<string>;
  readonly operations: readonly Operation[];
  readonly recorded: Map<string, RecordedExamples>;
  readonly names: RecordNames;
  readonly receiver: WebhookReceiver;
  readonly bot: BotApi;
  /** Path parameters of later requests. */
  readonly known: Map<string, string>;
  /** Current time in milliseconds. Every request advances it by a second. */
  now(): number;
  /** Sends a request and returns the body, or the record in it. @throws Error when the status is not 2xx */
  ask(id: string, asking?: Asking): Promise<JsonObject>;
  /** Like `ask`, without recording or advancing time, to wait for something. */
  peek(id: string, asking?: Asking): Promise<JsonObject>;
}

/**
 * Opens a shop that receives payments on this chain. `receive` returns the statuses with which its webhooks' receiver
 * responds.
 */
export async function openExampleShop(chain: EmbeddedChain, receive: () => number): Promise<ExampleShop> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-examples-'));
  const receiver = await startReceiver(receive);
  const bot = await startBotApi();
  let now = TEST_END_TIME;
  const clock: Clock = { now: () => now, sleep: (ms, signal) => systemClock.sleep(ms / 10, signal) };
  const service = await startTestPayments(
    { file: join(folder, 'payments.db') },
    {
      publicUrl: PAYMENTS_URL,
      chains: [watchedChain(chain)],
      rateLimitPerMinute: LIMITS,
      outgoing: {
        ...LOOPBACK_ONLY,
        mailFolder: join(folder, 'mail'),
        messenger: { token: bot.token, apiRoot: bot.url },
      },
      clock,
    },
  );
  const operations = operationsIn(paymentsContract);
  const names = recordNames(operations);
  names.name(`${receiver.url}/hooks`, RECEIVER);
  const recorded = new Map<string, RecordedExamples>();
  const known = new Map<string, string>();

  async function send(id: string, { at = {}, body, query }: Asking) {
    const operation = operations.find(one => one.id === id);
    if (operation === undefined) throw new Error(`${id} is not in the contract`);
    const sent = body ?? operation.example;
    const path = exampleTarget(operation, new Map([...known, ...Object.entries(at)]));
    // A given query replaces that of the example.
    const target = query === undefined ? path : `${path.split('?')[0]}?${query}`;
    const response = await fetch(service.url + target, {
      method: operation.row.method.toUpperCase(),
      headers: {
        ...(isKeyed(operation) ? { authorization: `Bearer ${service.demoKey}` } : {}),
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(sent === undefined ? {} : { body: names.real(JSON.stringify(sent)) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${id}: ${target} → ${response.status} ${text}`);
    return { status: response.status, text, isJson: operation.row.media?.[response.status] === undefined };
  }

  return {
    url: service.url,
    key: service.demoKey ?? '',
    signInToken: () => demoSignIn(service),
    operations,
    recorded,
    names,
    receiver,
    bot,
    known,
    now: () => now,
    async ask(id, asking = {}) {
      now += STEP_MS;
      const { status, text, isJson } = await send(id, asking);
      if (asking.isUnrecorded !== true && !recorded.has(id)) {
        const shown = names.shown(text);
        recorded.set(id, { [status]: isJson ? shortened(JSON.parse(shown)) : shown });
      }
      return isJson ? recordIn(JSON.parse(text)) : {};
    },
    async peek(id, asking = {}) {
      return recordIn(JSON.parse((await send(id, asking)).text));
    },
    async [Symbol.asyncDispose]() {
      await service.close();
      await receiver[Symbol.asyncDispose]();
      await bot[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Record in a response. Some responses wrap it (Decision 119). */
function recordIn(body: Json): JsonObject {
  if (!isObject(body)) return {};
  return body.success === true && isObject(body.data) ? body.data : body;
}

/** Converts an embedded chain for the payments platform. */
export function watchedChain({ id, name, rpcUrl, tokens }: EmbeddedChain): WatchedChain {
  return {
    id,
    name,
    mode: 'test',
    tokens: tokens.map(token => ({ ...token, address: token.address.toLowerCase() })),
    confirmations: 1,
    depositAddresses: {},
    explorerUrl: hash => `${DATA_URL}/explorer/transactions/${hash}?chain_id=${id}`,
    rpcUrls: [rpcUrl],
    isOfThisRun: true,
  };
}
