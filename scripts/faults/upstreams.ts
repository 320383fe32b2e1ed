import { type TrueAnswer, type World, world } from '../../test/lab/instance-world.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../../test/lab/scripted-upstream.ts';
import { FAULTS, type FaultName } from './fault-kinds.ts';
import { weather } from './fault-schedule.ts';
import { type Random, random } from './random.ts';

/** Five instances on the loopback interface, each with its own chain and its own faults. */
export interface Upstreams extends AsyncDisposable {
  readonly all: readonly FaultyUpstream[];
  readonly worlds: readonly World[];
  /** Number of requests that met a fault, by the name of the fault. */
  readonly injected: ReadonlyMap<FaultName, number>;
  /** Gives every request to every upstream this fault from now on; undefined for no faults. */
  settle(fault: FaultName | undefined): void;
}

export interface FaultyUpstream {
  readonly world: World;
  readonly service: ScriptedUpstream;
  readonly apiKey: string;
  /** True when it has answered a true 404 for this path. */
  saidNo(path: string): boolean;
}

const CHAINS = 5;
/** Blocks of the first chain, and the increment for each further chain. */
const BLOCKS = { first: 300, more: 25 };

/** Starts the upstreams. The same seed draws the same faults if requests arrive in the same order. */
export async function startUpstreams(seed: number): Promise<Upstreams> {
  const injected = new Map<FaultName, number>();
  const skies: { settle(fault: FaultName | undefined): void }[] = [];
  const all: FaultyUpstream[] = [];
  for (let n = 0; n < CHAINS; n += 1) {
    const apiKey = `key-of-chain-${n + 1}-never-to-be-told`;
    const chain = world({ chainId: n + 1, head: BLOCKS.first + n * BLOCKS.more, apiKey });
    const chance = random(seed * CHAINS + n);
    const sky = weather(chance);
    const refused = new Set<string>();
    const service = await startScriptedUpstream(({ path, query, headers }) => {
      const honest = chain.answer(path, query);
      const name = sky.draw();
      const secrets = `${headers['x-api-key']} at ${headers.host}`;
      const making = { honest, other: otherThan(path, chain, chance), secrets, random: chance };
      const fault = name === undefined ? undefined : FAULTS[name](making);
      if (name !== undefined && fault !== undefined) {
        injected.set(name, (injected.get(name) ?? 0) + 1);
        // A slow 404 is still a true 404.
        if (name === 'slow answer' && honest.status === 404) refused.add(path);
        return fault;
      }
      if (honest.status === 404) refused.add(path);
      return honest;
    });
    skies.push(sky);
    all.push({ world: chain, service, apiKey, saidNo: path => refused.has(path) });
  }
  return {
    all,
    worlds: all.map(upstream => upstream.world),
    injected,
    settle: fault => skies.forEach(sky => void sky.settle(fault)),
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map(({ service }) => service[Symbol.asyncDispose]()));
    },
  };
}

/**
 * Answer of the same chain to another question of the same kind. Undefined for kinds whose records do not identify
 * themselves: the code of one contract cannot be told from that of another.
 */
function otherThan(path: string, chain: World, chance: Random): TrueAnswer | undefined {
  const [, kind, id = '', ...rest] = path.split('/');
  const ask = (...segments: string[]) => chain.answer(['', ...segments].join('/'), new URLSearchParams());
  if (kind === 'transactions' && id !== '') return ask(kind, chance.pick(chain.transactions), ...rest);
  if (kind === 'blocks' && id !== '') {
    const isHash = id.startsWith('0x');
    if (isHash && rest.length > 0) return undefined;
    return ask(kind, String((Number(isHash ? 0 : id) + 1 + chance.below(chain.head)) % chain.head), ...rest);
  }
  if (kind === 'tokens') return ask(kind, id, 'instances', String(Number(rest[1]) + 1));
  return undefined;
}
