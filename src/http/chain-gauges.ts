import { Gauge, type Registry } from 'prom-client';
import { inTime } from '../lib/in-time.ts';

/** Time that a scrape waits for values it cannot keep in memory. Prometheus gives up after 10 s. */
export const SCRAPE_PATIENCE_MS = 2_000;

/** A gauge with one value for each chain. `amountOf` is undefined where a chain has none at the moment. */
export interface ChainGauge<Reading> {
  readonly name: string;
  readonly help: string;
  readonly amountOf: (reading: Reading) => number | undefined;
}

/** Registers gauges that are read at every scrape, all of one scrape by one read. */
export function registerChainGauges<Reading extends { readonly chain: string }>(
  registry: Registry,
  { read, gauges }: { read: () => Promise<readonly Reading[]>; gauges: readonly ChainGauge<Reading>[] },
): void {
  let reading: Promise<readonly Reading[]> | undefined;

  // Without the values of these gauges the others of the scrape are still worth having.
  const noReading = (): readonly Reading[] => [];

  function readOnce(): Promise<readonly Reading[]> {
    reading ??= read()
      .catch(noReading)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  for (const { name, help, amountOf } of gauges) {
    new Gauge({
      name,
      help,
      labelNames: ['chain'],
      registers: [registry],
      async collect() {
        const all = await inTime(readOnce(), SCRAPE_PATIENCE_MS).catch(noReading);
        this.reset();
        for (const one of all) {
          const value = amountOf(one);
          if (value !== undefined) this.set({ chain: one.chain }, value);
        }
      },
    });
  }
}
