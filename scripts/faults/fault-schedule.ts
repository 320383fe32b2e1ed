import { DECEITFUL, FAULTS, type FaultName, OUTAGES, RARE } from './fault-kinds.ts';
import type { Random } from './random.ts';

/** Current faults of one upstream. */
export interface Weather {
  /** Draws the fault of the next request; undefined for none. */
  draw(): FaultName | undefined;
  /** Gives every request this fault from now on; undefined for no faults. */
  settle(fault: FaultName | undefined): void;
}

interface Spell {
  /** By `performance.now()`. */
  readonly until: number;
  readonly rate: number;
  readonly faults: readonly FaultName[];
}

const NAMES: readonly FaultName[] = Object.keys(FAULTS).filter(isFaultName);
/** The most dangerous faults, those that look like answers, have a higher weight. */
const USUAL = [
  ...NAMES.filter(name => !RARE.includes(name)),
  ...Array.from({ length: 3 }, () => DECEITFUL).flat(),
];
/** Share of rare faults among all faults. */
const RARE_SHARE = 0.02;

/** Alternates at random between few, some and many faults, and outages, in phases of 0.3 to 3 s. */
export function weather(random: Random): Weather {
  let spell: Spell | undefined;
  return {
    draw() {
      if (spell === undefined || performance.now() >= spell.until) spell = newSpell(random);
      if (!random.chance(spell.rate)) return undefined;
      return spell.faults === USUAL && random.chance(RARE_SHARE)
        ? random.pick(RARE)
        : random.pick(spell.faults);
    },
    settle(fault) {
      spell = {
        until: Number.POSITIVE_INFINITY,
        rate: fault === undefined ? 0 : 1,
        faults: fault === undefined ? USUAL : [fault],
      };
    },
  };
}

function newSpell(random: Random): Spell {
  const until = performance.now() + random.between(300, 3_000);
  const kind = random.next();
  if (kind < 0.3) return { until, rate: 0.02, faults: USUAL };
  if (kind < 0.65) return { until, rate: 0.3, faults: USUAL };
  if (kind < 0.9) return { until, rate: 0.6, faults: USUAL };
  return { until, rate: 1, faults: [random.pick(OUTAGES)] };
}

function isFaultName(name: string): name is FaultName {
  return name in FAULTS;
}
