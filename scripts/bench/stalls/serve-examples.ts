import { startTestDataService } from '#test/lab/data-service.ts';
import { startTestDevnet } from '#test/lab/devnet.ts';

const LIFETIMES = { finalMs: 0, movingMs: 0, unsettledMs: 0, overrides: {} };

/** Starts the data service with its pages on the embedded chains of the contracts' examples, without a cache. */
export async function serveExamples(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const devnet = await startTestDevnet({ chains: 2 });
  const { url, close } = await startTestDataService(devnet.chains, {
    cache: { maxBytes: 1, lifetimes: LIFETIMES },
    validateResponses: false,
    rateLimitPerMinute: 1e9,
  });
  return {
    url,
    async close() {
      await close();
      await devnet.stop();
    },
  };
}
