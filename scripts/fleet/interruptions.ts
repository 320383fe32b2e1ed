/** Kinds of waiting that a user of the fleet may notice. */
const WAITS = ['read', 'write', 'index', 'settlement', 'delivery'] as const;
type WaitKind = (typeof WAITS)[number];

/** A wait from its start, in milliseconds since 1970. */
interface Wait {
  readonly kind: WaitKind;
  readonly startedAt: number;
  readonly ms: number;
}

/** A disruption, or the time without one. */
interface Disruption {
  readonly name: string;
  /** True when clients may notice only refused connections, after which they use the next replica. */
  readonly isGraceful: boolean;
  /** True when every read through a load balancer must be answered, because no process ends without notice. */
  readonly isServed: boolean;
}

type Nature = Partial<Omit<Disruption, 'name'>>;

/** Waits of users, by disruption. */
export interface Interruptions {
  note(wait: Wait): void;
  /** Begins a disruption. Later waits belong to it. */
  begin(name: string, nature?: Nature): void;
  /** Current disruption. */
  current(): Disruption;
  /** Waits of a kind in milliseconds, of the disruptions that fit. */
  waitsOf(kind: WaitKind, isOf: (disruption: Disruption) => boolean): readonly number[];
  /** Table with the longest wait of each kind, per disruption and in total. */
  table(): string;
}

/** A wait that began up to this long before a disruption counts for it, because the disruption probably caused it. */
const LEAD_MS = 2_000;
const WIDTH = 12;

/** Creates a record of waits. Calls `onBegin` for each disruption. */
export function interruptions(onBegin: (disruption: string) => void): Interruptions {
  const waits: Wait[] = [];
  const phases: (Disruption & { from: number })[] = [];

  const phaseOf = ({ startedAt }: Wait) =>
    phases.findLast(({ from }) => from <= startedAt + LEAD_MS)?.name ?? phases[0]?.name;

  return {
    note: wait => void waits.push(wait),
    begin(name, { isGraceful = false, isServed = isGraceful } = {}) {
      phases.push({ name, isGraceful, isServed, from: Date.now() });
      onBegin(name);
    },
    current: () => phases.at(-1) ?? { name: 'the start', isGraceful: false, isServed: false },
    waitsOf(kind, isOf) {
      const names = new Set(phases.filter(isOf).map(({ name }) => name));
      const isWanted = (wait: Wait) => wait.kind === kind && names.has(phaseOf(wait) ?? '');
      return waits.filter(isWanted).map(({ ms }) => ms);
    },
    table() {
      const byPhase = Map.groupBy(waits, phaseOf);
      const width = Math.max(...phases.map(({ name }) => name.length)) + 2;
      const line = (name: string, ofPhase: readonly Wait[]) =>
        name.padEnd(width) + WAITS.map(kind => longest(ofPhase, kind).padStart(WIDTH)).join('');
      return [
        ''.padEnd(width) + WAITS.map(kind => kind.padStart(WIDTH)).join(''),
        ...phases.map(({ name }) => line(name, byPhase.get(name) ?? [])),
        line('the longest of all', waits),
      ].join('\n');
    },
  };
}

function longest(waits: readonly Wait[], kind: WaitKind): string {
  const ofKind = waits.filter(wait => wait.kind === kind);
  const ms = ofKind.reduce((most, wait) => Math.max(most, wait.ms), 0);
  return ofKind.length === 0 ? '-' : `${(ms / 1000).toFixed(2)} s`;
}
