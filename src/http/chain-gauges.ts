import { Counter, Gauge, type Registry } from 'prom-client';
import { inTime } from '../lib/in-time.ts';

/** Maximum wait of a scrape for values that are not in memory. Prometheus gives up after 10 s. */
export const SCRAPE_PATIENCE_MS = 2_000;

/** Gauge with one value per chain. `amountOf` returns undefined when a chain has no value at the moment. */
export interface ChainGauge<Reading> {
  readonly name: string;
  readonly help: string;
  readonly amountOf: (reading: Reading) => number | undefined;
}

/** Registers gauges that are read at every scrape. One read serves all gauges of a scrape. */
export function registerChainGauges<Reading extends { readonly chain: string }>(
  registry: Registry,
  { read, gauges }: { read: () => Promise<readonly Reading[]>; gauges: readonly ChainGauge<Reading>[] },
): void {
  let reading: Promise<readonly Reading[]> | undefined;

  // Other metrics are still useful without these.
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
      aggregator: 'max', // processes on one database report the same values
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

/** Registers a counter of the times that nodes were left out because they contradicted a hash, by chain and host. */
export function registerContradictions<
  Reading extends {
    readonly chain: string;
    readonly contradictions?: ReadonlyMap<string, number> | undefined;
  },
>(registry: Registry, { name, read }: { name: string; read: () => Promise<readonly Reading[]> }): void {
  new Counter({
    name,
    help: 'Times that a node was left out because its answer contradicted the hash of a block, by chain and host',
    labelNames: ['chain', 'node'],
    registers: [registry],
    async collect() {
      const all = await read();
      this.reset();
      for (const { chain, contradictions } of all)
        for (const [node, count] of contradictions ?? []) this.inc({ chain, node }, count);
    },
  });
}
