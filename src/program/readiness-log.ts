import { setTimeout as delay } from 'node:timers/promises';
import { checkOutcomes } from '#http/health.ts';
import type { Announcement, Logger } from '#lib/logger.ts';
import type { PaymentsListener } from '#payments/listener.ts';
import type { EmbeddedDefault } from './embedded.ts';
import type { Services } from './services.ts';

const PROGRESS_EVERY_MS = 1_000;
const CHECK_EVERY_MS = 250;

interface Announced extends Services {
  /** True when the data service has pages to open. */
  readonly hasPages: boolean;
  readonly embedded: EmbeddedDefault | undefined;
  readonly log: Logger;
  /** Reports that the process is ready. */
  readonly tell: (announcement: Announcement) => void;
  /** Aborts when the process is about to stop. */
  readonly signal: AbortSignal;
}

/**
 * Logs changes of the chains and their indexes until the process is ready (Decision 317). Resolves with an error, or
 * never.
 */
export async function announceReadiness(announced: Announced): Promise<Error> {
  const { data, payments, hasPages, embedded, tell, signal } = announced;
  try {
    await Promise.race([untilReady(announced), failure(data?.whenFilled())]);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
  if (!signal.aborted) {
    tell({
      words: data === undefined ? 'ready' : `ready: ${firstLook(data.url, hasPages)}`,
      fields: {
        ...(data && addressesOf(data)),
        payments: payments?.api && { ...addressesOf(payments.api), ...tryOut(payments.api) },
        nodes: embedded?.payments.chains.map(({ id, rpcUrl }) => ({ chainId: id, url: rpcUrl })),
      },
      lines: readyLines(announced),
    });
  }
  return new Promise<never>(() => {});
}

/** Resolves when all checks of the data service pass. A process without it is ready once it is open. */
async function untilReady({ data, indexer, embedded, log, signal }: Announced): Promise<void> {
  const indexing = data ?? indexer;
  if (indexing === undefined) return;
  let reported = '';
  let reportedAt = performance.now();
  while (!signal.aborted) {
    const outcomes = Object.entries(await checkOutcomes(indexing.checks, () => log));
    if (outcomes.every(([, { ok }]) => ok)) return;
    const fields = {
      filling: embedded
        ?.progress()
        .map(({ chainId, done, total }) => `${chainId}: block ${done} of ${total}`),
      indexed: indexing.progress(),
      states: outcomes.map(([chain, { detail }]) => `${chain}: ${detail}`),
    };
    const words = JSON.stringify(fields);
    if (words !== reported && performance.now() - reportedAt >= PROGRESS_EVERY_MS) {
      log.info(fields, 'not ready yet');
      reported = words;
      reportedAt = performance.now();
    }
    await delay(CHECK_EVERY_MS, undefined, { ref: false }); // must not keep a stopping process alive
  }
}

/** Rejects when the work fails, and never resolves. */
async function failure(work: Promise<void> | undefined): Promise<never> {
  await work;
  return new Promise<never>(() => {});
}

/** First thing to try with the data service. */
function firstLook(url: string, hasPages: boolean): string {
  return hasPages ? `open ${url}/` : `curl ${url}/explorer/transactions`;
}

/** Addresses and values to open and to copy, with a line for each. */
function readyLines({ data, payments, hasPages, embedded }: Announced): string[] {
  const { url, demoKey, dashboardUrl } = payments?.api ?? {};
  const named: [name: string, value: string | undefined][] = [
    ['Explorer', data && hasPages ? `${data.url}/` : undefined],
    ['Data API', data && `${data.url}/docs`],
    ['Payments API', url && `${url}/docs`],
    ['Dashboard', dashboardUrl ?? (url && `${url}/dashboard`)],
    ['API key', demoKey],
    ['First link', demoKey && `TOLLGATE_KEY=${demoKey} ${FIRST_LINK}`],
    ...(embedded?.payments.chains ?? []).map(({ id, rpcUrl }): [string, string] => [`Node of ${id}`, rpcUrl]),
  ];
  return [
    'tollgate is ready. Ctrl+C stops it.',
    ...named.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(15)}${value}`])),
  ];
}

const FIRST_LINK = 'npm run -s links -- create --name "Field notebooks" --amount 12500000';

function addressesOf({ url }: { url: string }) {
  return { url, docs: `${url}/docs` };
}

/** Demo key, dashboard address and an example request. The key and the address are shown only here. */
function tryOut({ url, demoKey: key, dashboardUrl: dashboard }: PaymentsListener) {
  if (key === undefined) return {};
  const body = '{"name":"Field notebooks","amount":"12500000"}';
  return {
    dashboard,
    key,
    create: `curl ${url}/api/v1/payment-links -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`,
  };
}
