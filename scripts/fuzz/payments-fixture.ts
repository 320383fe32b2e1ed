import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '../../src/contract/contracts/document.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { isObject } from '../../src/lib/json.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { NATIVE_COIN } from '../../src/payments/model/payment-chain.ts';
import { startPaymentsService } from '../../src/payments/service.ts';
import { recordingClient } from '../contract/client.ts';
import { parsed } from '../contract/judge.ts';
import { sampleOf } from '../contract/payments/body-faults.ts';
import { type Operation, operationsIn, pathWith } from '../contract/payments/operation.ts';
import { goodValues } from '../contract/values.ts';
import type { World } from './fixture.ts';

const { document } = paymentsContract;
const UNLIMITED = 10_000_000;
const SECRET_KEY = 'seals-what-a-fuzzing-run-keeps-and-drops';
const SHOP = `0x${'5e'.repeat(20)}`;
/** Address without a listener. No edit of one character makes it leave this machine. */
const RECEIVER = 'http://[::1]:9/';
const ID = /^([a-z]{2,4})_[0-9A-Za-z]{10,}$/;
const KEPT_OF_A_KIND = 4;

/** Starts the payments platform on SQLite with a test key. It sends nothing to other machines. */
export async function paymentsWorld([chain]: readonly EmbeddedChain[]): Promise<World> {
  if (chain === undefined) throw new Error('there is no chain');
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-fuzz-payments-'));
  const service = await startPaymentsService({
    host: '127.0.0.1',
    port: 0,
    database: { kind: 'sqlite', file: join(folder, 'payments.db') },
    secretKey: { kind: 'value', value: SECRET_KEY },
    chains: [
      {
        id: chain.id,
        name: chain.name,
        mode: 'test',
        tokens: [{ address: NATIVE_COIN, symbol: 'ETH', decimals: 18 }],
        confirmations: 2,
        explorerUrl: undefined,
        rpcUrls: [chain.rpcUrl],
        isOfThisRun: false,
      },
    ],
    demo: { chainId: chain.id, tokenAddress: NATIVE_COIN, recipientAddress: SHOP },
    rateLimitPerMinute: { standard: UNLIMITED, elevated: UNLIMITED },
    sessionLifetimeMs: 600_000,
    validateResponses: true,
    loggedRequests: 'all',
    trustedProxies: [],
    outgoing: {
      webhooks: { concurrencyPerEndpoint: 1, allowedNetworks: ['127.0.0.0/8', '::1/128'], allowHttp: true },
      mail: undefined,
      mailFolder: join(folder, 'mail'),
      messenger: undefined,
    },
    metrics: createMetrics(),
    clock: systemClock,
    log: createLogger({ level: 'silent' }),
  });
  const { url = '', demoKey } = service.api ?? {};
  if (demoKey === undefined) throw new Error('there is no key');
  const operations = operationsIn(paymentsContract);
  const ids = recordIds();
  await begin(url, demoKey, { operations, ids });
  return {
    url,
    contracts: [paymentsContract],
    isPayments: true,
    secrets: [folder, SECRET_KEY, demoKey, new URL(chain.rpcUrl).host],
    grounds: [
      {
        document,
        operations,
        targets: operation => [
          target(operation, ids),
          target(operation, ids),
          pathWith(document, operation, {}),
        ],
        body: operation => bodyOf(operation, ids),
        key: demoKey,
      },
    ],
    learn: ({ method, url, status, text }) => {
      if (status === 201) ids.learn(parsed(text)?.value);
      if (status === 200 && method === 'DELETE') ids.forget(url.split(/[/?]/));
    },
    async close() {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Latest ids of records, by their prefix, and latest short codes. */
interface RecordIds {
  learn(value: Json | undefined): void;
  forget(gone: readonly string[]): void;
  latest(kind: string): string | undefined;
}

function recordIds(): RecordIds {
  const known = new Map<string, string[]>();
  const keep = (kind: string, id: string) =>
    void known.set(kind, [...(known.get(kind) ?? []), id].slice(-KEPT_OF_A_KIND));
  return {
    latest: kind => known.get(kind)?.at(-1),
    forget(gone) {
      for (const [kind, own] of known)
        known.set(
          kind,
          own.filter(id => !gone.includes(id)),
        );
    },
    learn(value) {
      if (Array.isArray(value)) for (const item of value) this.learn(item);
      if (!isObject(value)) return;
      const [, kind] = typeof value.id === 'string' ? (ID.exec(value.id) ?? []) : [];
      if (kind !== undefined) keep(kind, String(value.id));
      if (typeof value.short_code === 'string') keep('short_code', value.short_code);
      for (const member of Object.values(value)) this.learn(member);
    },
  };
}

/**
 * Creates records of every kind from the examples, and reads the existing ones. Does so twice, because some records
 * need others.
 */
async function begin(
  url: string,
  key: string,
  { operations, ids }: { operations: readonly Operation[]; ids: RecordIds },
): Promise<void> {
  const client = recordingClient({ baseUrl: url, key });
  for (const operation of [...operations, ...operations]) {
    const isList = operation.row.method === 'get' && !operation.path.includes('api-keys');
    if (!isList && operation.row.method !== 'post') continue;
    const body = bodyOf(operation, ids);
    const { text, status } = await client.send(
      operation.row.method.toUpperCase(),
      target(operation, ids),
      body === undefined ? {} : { 'content-type': 'application/json' },
      body === undefined ? undefined : JSON.stringify(body),
    );
    if (status === 201 || (isList && status === 200)) ids.learn(parsed(text)?.value);
  }
  await client.close();
}

function target(operation: Operation, ids: RecordIds): string {
  const known = operation.parameters.flatMap(parameter => {
    const [example = ''] = goodValues(document, parameter);
    const id = ids.latest(ID.exec(example)?.[1] ?? String(parameter.name));
    return parameter.in === 'path' && id !== undefined ? [[String(parameter.name), id]] : [];
  });
  return pathWith(document, operation, Object.fromEntries(known));
}

/** Example of the operation, or its shortest valid body, with ids of existing records. */
function bodyOf({ body, example }: Operation, ids: RecordIds): Json | undefined {
  return body === undefined ? undefined : localized(example ?? sampleOf(document, body), ids);
}

function localized(value: Json, ids: RecordIds): Json {
  if (Array.isArray(value)) return value.map(item => localized(item, ids));
  if (isObject(value)) {
    const own = Object.entries(value).map(([name, member]) => [name, localized(member, ids)]);
    return {
      ...Object.fromEntries(own),
      ...('token_address' in value ? { token_address: NATIVE_COIN } : {}),
    };
  }
  if (typeof value !== 'string') return value;
  if (value.includes('://')) return RECEIVER;
  return ids.latest(ID.exec(value)?.[1] ?? '') ?? value;
}
