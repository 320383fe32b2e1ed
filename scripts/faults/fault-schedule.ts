import { DECEITFUL, FAULTS, type FaultName, OUTAGES, RARE } from './fault-kinds.ts';
import type { Random } from './random.ts';

/** What goes wrong with one upstream at the moment. */
export interface Weather {
  /** The fault that the next request meets; undefined for none. */
  draw(): FaultName | undefined;
  /** From now on every request meets this one; undefined for good weather that stays. */
  settle(fault: FaultName | undefined): void;
}

interface Spell {
  /** By `performance.now()`. */
  readonly until: number;
  readonly rate: number;
  readonly faults: readonly FaultName[];
}

const NAMES: readonly FaultName[] = Object.keys(FAULTS).filter(isFaultName);
/** The most dangerous ones, which look like answers, count several times. */
const USUAL = [
  ...NAMES.filter(name => !RARE.includes(name)),
  ...Array.from({ length: 3 }, () => DECEITFUL).flat(),
];
/** How often a fault is one of the rare ones. */
const RARE_SHARE = 0.02;

/** Fine, changeable and stormy by turns, with outages in between: spells of 0.3 to 3 s. */
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
