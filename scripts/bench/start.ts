import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDevnet } from '../../src/devnet/start-devnet.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { type Figure, figureOf, median, type Wanted } from './figure.ts';
import { type Start, type StartedProgram, startOnce } from './start/started-program.ts';

const ROUNDS = 3;
const ADMIN_PORT = 23_002;
const BLOCKS = 300;
const NPM = ['npm', 'start', '--silent', '--'];
const NODE = [process.execPath, 'src/main.ts'];
/** Minimal server, for comparison. */
const BARE_KOA = `
  const { default: Koa } = await import('koa');
  new Koa().use(ctx => { ctx.body = 'ok'; }).listen(23000, '127.0.0.1');
`;

/**
 * Time from the command to answers and to readiness: for the embedded default, for the data service on a chain with a
 * filled index, and for payments on that chain. Starts with npm and without it alternate. Another figure is for the
 * very first start, before any code is compiled.
 */
export async function benchStart(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-start-'));
  const devnet = await startDevnet({
    folder: join(folder, 'devnet'),
    chains: 1,
    blocks: BLOCKS,
    trickleMs: 0,
    seed: 1,
    clock: systemClock,
    log: createLogger({ level: 'warn' }),
  });
  try {
    await devnet.filled;
    return await figures(folder, devnet.chains[0]?.rpcUrl ?? '');
  } finally {
    await devnet.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Measures all programs. The first round fills indexes and the compile cache, and is not counted. */
async function figures(folder: string, rpcUrl: string): Promise<Figure[]> {
  const programs = await programsIn(folder, rpcUrl);
  const rounds = new Map<string, Start[]>();
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, program] of Object.entries(programs)) {
      const cache = program.isFirst ? { NODE_COMPILE_CACHE: join(folder, `compiled-${round}`) } : {};
      const start = await startOnce(program, cache);
      if (round > 0) rounds.set(name, [...(rounds.get(name) ?? []), start]);
    }
  }
  return Object.keys(programs).flatMap(name =>
    figuresOf(name, rounds.get(name) ?? [], programs[name]?.wanted),
  );
}

interface Program extends StartedProgram {
  /** True for a start without the compile cache of an earlier one. */
  readonly isFirst?: boolean;
  /** Goals in seconds. */
  readonly wanted: { readonly answer: number; readonly ready: number };
}

async function programsIn(folder: string, rpcUrl: string): Promise<Record<string, Program>> {
  const [embedded, data, payments] = await Promise.all([
    configIn(folder, 'embedded', 'devnet: { chains: 2 }'),
    configIn(folder, 'data', chainOf(rpcUrl)),
    configIn(folder, 'payments', chainOf(rpcUrl)),
  ]);
  const onData = { url: 'http://127.0.0.1:23000', page: '/', adminUrl: `http://127.0.0.1:${ADMIN_PORT}` };
  const onPayments = { ...onData, url: 'http://127.0.0.1:23001', page: '/docs' };
  const quick = { answer: 1, ready: 1.5 };
  const filling = { answer: 1, ready: 8 };
  const dataAlone = ['--config', data, '--only', 'data'];
  const paymentsAlone = ['--config', payments, '--only', 'payments'];
  return {
    'embedded default, npm start': { ...onData, command: [...NPM, '--config', embedded], wanted: filling },
    'embedded default, node': { ...onData, command: [...NODE, '--config', embedded], wanted: filling },
    'embedded default, node, first start': {
      ...onData,
      command: [...NODE, '--config', embedded],
      wanted: filling,
      isFirst: true,
    },
    'data service, npm start': { ...onData, command: [...NPM, ...dataAlone], wanted: quick },
    'data service, node': { ...onData, command: [...NODE, ...dataAlone], wanted: quick },
    'payments, npm start': { ...onPayments, command: [...NPM, ...paymentsAlone], wanted: quick },
    'payments, node': { ...onPayments, command: [...NODE, ...paymentsAlone], wanted: quick },
    'bare Koa, node': {
      ...onData,
      adminUrl: undefined,
      command: [process.execPath, '--input-type=module', '-e', BARE_KOA],
      wanted: quick,
    },
  };
}

function chainOf(rpcUrl: string): string {
  return `
chains:
  - id: 31337
    name: A real chain
    native: { symbol: ETH, decimals: 18 }
    rpc: ["${rpcUrl}"]
    confirmations: 12
    backends: [{ kind: index, database: "sqlite:./index.db", fromBlock: 0 }]`;
}

async function configIn(folder: string, name: string, rest: string): Promise<string> {
  await mkdir(join(folder, name));
  const file = join(folder, name, 'tollgate.yaml');
  await writeFile(
    file,
    `
data: { listen: "127.0.0.1:23000" }
payments: { listen: "127.0.0.1:23001", database: "sqlite:./payments.db", secretKeyFile: ./secret.key }
admin: { listen: "127.0.0.1:${ADMIN_PORT}" }
${rest}
`,
  );
  return file;
}

function figuresOf(name: string, starts: readonly Start[], wanted?: Program['wanted']): Figure[] {
  if (wanted === undefined) return [];
  const memory = median(starts.map(({ residentBytes }) => residentBytes / 2 ** 20));
  const cpu = median(starts.map(({ cpuSeconds }) => cpuSeconds));
  const figure = (what: string, seconds: (start: Start) => number, bound: Wanted, note = '') =>
    figureOf({ name: `${name}: ${what}, s`, rounds: starts.map(seconds), wanted: bound, note });
  const used = Number.isNaN(memory) ? '' : `${memory.toFixed(0)} MB and ${cpu.toFixed(2)} s of CPU by then`;
  return [
    figure('health', ({ healthS }) => healthS, { atMost: wanted.answer }),
    figure('page', ({ pageS }) => pageS, { atMost: wanted.answer }),
    figure('ready', ({ readyS }) => readyS, { atMost: wanted.ready }, used),
  ];
}
