import { BLOCK_MS } from '../chain.ts';
import type { Observers, Replica } from '../replica-client.ts';
import type { Shop } from '../shops/shops.ts';
import { attackAll, type Scene, type Traces } from './attacks.ts';
import { startCanary } from './canaries.ts';
import { type HostileChain, startHostileChain } from './hostile-chain.ts';
import { compareIndexes, readHostileRecords } from './index-judge.ts';
import { judgeDust, judgeUnreadable } from './judge.ts';
import { compareWaits } from './settlement-waits.ts';
import { FLEET } from './sizes.ts';

/** A hostile chain next to the chains of the fleet. */
export interface HostileDisruption {
  readonly chain: HostileChain;
  /** Makes all attacks, each of which is a disruption that clients may not notice. Returns its traces. */
  attack(target: AttackTarget): Promise<Traces>;
  /** Compares the fleet with the chain, once the waits of honest payers are noted. Returns a line for the report. */
  judge(target: AttackTarget, traces: Traces): Promise<string>;
}

interface AttackTarget {
  readonly shop: Shop;
  readonly unluckyShop: Shop;
  readonly data: readonly Replica[];
  readonly observers: Observers;
}

const ID = 31_339;
const PREFIX = 'hostile: ';
const GRACEFUL = { isGraceful: true };

export async function startHostileDisruption(stack: AsyncDisposableStack): Promise<HostileDisruption> {
  const canary = await startCanary(stack);
  const chain = await startHostileChain({ id: ID, urls: [canary.url], blockMs: BLOCK_MS }, stack);
  const sceneOf = ({ shop, unluckyShop, data }: AttackTarget): Scene => {
    return { chain, shop, unluckyShop, sizes: FLEET, dataUrls: data.map(({ url }) => url) };
  };
  return {
    chain,
    attack(target) {
      const { begin } = target.observers.interruptions;
      return attackAll(sceneOf(target), name => begin(PREFIX + name, GRACEFUL));
    },
    async judge(target, traces) {
      const { observers } = target;
      const judged = { scene: sceneOf(target), traces, observers };
      const waitsOf = (isAttack: boolean) =>
        observers.interruptions.waitsOf(
          'settlement',
          ({ name, isGraceful }) => isGraceful && name.startsWith(PREFIX) === isAttack,
        );
      const waits = { without: waitsOf(false), underAttack: waitsOf(true) };
      const told = compareWaits(waits, observers.violation);
      const answers = (await compareIndexes(judged)) + (await readHostileRecords(judged));
      await judgeDust(judged);
      await judgeUnreadable(judged);
      for (const contact of canary.contacts) observers.violation(`the chain caused ${contact}`);
      return `${told}, hostile answers compared and read ${answers}`;
    },
  };
}
