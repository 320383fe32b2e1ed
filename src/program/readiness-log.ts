import type { Logger } from '#lib/logger.ts';
import type { PaymentsListener } from '#payments/listener.ts';
import type { EmbeddedDefault } from './embedded.ts';
import type { Services } from './services.ts';

const PROGRESS_EVERY_MS = 1_000;

interface Announced extends Services {
  /** True when the data service has pages to open. */
  readonly hasPages: boolean;
  readonly embedded: EmbeddedDefault | undefined;
  readonly log: Logger;
  /** Reports that the process is ready. */
  readonly tell: (words: string, fields: object) => void;
}

/** Logs the progress of the chains and their indexes until they are ready. Resolves with an error, or never. */
export async function announceReadiness({
  data,
  indexer,
  payments,
  hasPages,
  embedded,
  log,
  tell,
}: Announced): Promise<Error> {
  const indexing = data ?? indexer;
  const timer = setInterval(() => {
    const filling = embedded
      ?.progress()
      .map(({ chainId, done, total }) => `${chainId}: block ${done} of ${total}`);
    log.info({ filling, indexed: indexing?.progress() }, 'not ready yet');
  }, PROGRESS_EVERY_MS);
  timer.unref(); // must not keep a stopping process alive
  try {
    await embedded?.filled;
    await indexing?.whenComplete();
    tell(data === undefined ? 'ready' : `ready: ${firstLook(data.url, hasPages)}`, {
      ...(data && placeOf(data)),
      payments: payments?.api && { ...placeOf(payments.api), ...tryOut(payments.api) },
      nodes: embedded?.payments.chains.map(({ id, rpcUrl }) => ({ chainId: id, url: rpcUrl })),
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    clearInterval(timer);
  }
  return new Promise<never>(() => {});
}

/** First thing to try with the data service. */
function firstLook(url: string, hasPages: boolean): string {
  return hasPages ? `open ${url}/` : `curl ${url}/explorer/transactions`;
}

function placeOf({ url }: { url: string }) {
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
