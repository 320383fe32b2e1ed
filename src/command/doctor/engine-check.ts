import type { DevnetConfig } from '#config/config.ts';
import { findEngine } from '#devnet/chain/engine.ts';
import type { Check } from './check.ts';

/** Looks for the engine of the embedded chains. Starts no chain. */
export function engineCheck({ engine }: DevnetConfig, anvil: string | undefined): Check {
  return {
    setting: 'devnet',
    subject: 'embedded chains',
    advice: 'Install it, or serve chains of your own.',
    run: async () => ({ state: 'ok', detail: `run on ${findEngine({ engine, anvil }).name}` }),
  };
}
