import { setTimeout as delay } from 'node:timers/promises';
import type { ExplorerSchemas } from '../../src/contract/contracts/explorer.ts';
import type { PaymentsSchemas } from '../../src/contract/contracts/payments.ts';
import { type NodeLie, nodeLies, samplesOf } from '../../test/lab/lies/node-lies.ts';
import { type InterruptedChain, startInterruptedChain } from './chain.ts';
import { type HostileRun, openPlace, sell } from './hostile/alone.ts';
import { comparePaid } from './hostile/judge.ts';
import { openStage, type Stage } from './hostile/stage.ts';
import { interruptions } from './interruptions.ts';
import { STOPS } from './member.ts';
import { demand } from './shops/demand.ts';
import { pathOfBlock, truth } from './truth.ts';
import { compareReplicas, noteWaits } from './verdict.ts';

/** Run of a program whose first node lies. */
export type LiesRun = Omit<HostileRun, 'sizes'>;

const CHAIN_ID = 31_337;
const SHOPS = 2;
/** Time for which each lie is told, and time without one. A payment needs three seconds. */
const LIE_MS = 5_000;
const CALM_MS = 1_000;
/** Blocks of the chain have one payment or two. */
const BLOCK = { transactions: 2, logs: [0, 1], amount: 5_000_000n };
const LIMIT = 100;

/**
 * Runs the program with all roles on a chain with two nodes. The first one tells one lie of each sort about all blocks from
 * then on, while payments are made. The program is restarted after each, because it remembers which node lied. Returns a
 * report.
 */
export async function runLies(run: LiesRun): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const { violation } = run;
  const observers = { interruptions: interruptions(run.told), violation };
  observers.interruptions.begin('nothing');
  const place = await openPlace(run, stack);
  const chain = await startInterruptedChain(CHAIN_ID, stack);
  const honest = chain.chain.rpcUrl.replace('127.0.0.1', 'localhost');
  const configured = { ...chain.configured, otherRpcUrls: [honest], prove: run.prove };
  let errors = 0;
  const stage = await openStage(
    {
      ...place,
      name: 'lies',
      chain: { ...chain, configured },
      shops: SHOPS,
      observers,
      // A look or a block may fail while answers do not fit together.
      onError: () => {
        errors += 1;
      },
    },
    stack,
  );

  const closing = new AbortController();
  const selling = sell(stage, { seed: run.seed, shops: SHOPS, signal: closing.signal });
  const failure = new Promise<never>((_, reject) => selling.catch(reject));
  const lying = tellAll(chain, stage);
  const told = await Promise.race([lying, failure]).finally(() => closing.abort());
  observers.interruptions.begin('nothing again');
  const sold = await selling;
  await comparePaid(stage, sold);
  await noteWaits(sold, stage.receivers.arrivals, observers);
  const answers = await compareReplicas({
    urls: [stage.data.url],
    truth: truth([stage.chain]),
    chains: [stage.chain],
    paid: sold.flatMap(({ sales }) => sales),
    observers,
  });
  const blocks = await provenBlocks(stage);
  const payments = await provenPayments(stage);
  const code = await stage.member.end();
  if (!STOPS.includes(code)) violation(`${stage.name} ended with ${code}`);
  return `${observers.interruptions.table()}

${told.map(({ name, named }) => `${name}: ${named}`).join('\n')}

payments ${sold.reduce((sum, { sales }) => sum + sales.length, 0)}, ${payments}
blocks ${blocks}, answers compared with the chain ${answers}, lines of errors in the log ${errors}`;
}

/** A lie that was told, and which roles named the node for it. */
interface NamedLie extends Pick<NodeLie, 'name'> {
  readonly named: string;
}

async function tellAll({ chain, node }: InterruptedChain, { member, observers }: Stage): Promise<NamedLie[]> {
  const told: NamedLie[] = [];
  for (const { name, about } of samplesOf(nodeLies(BLOCK))) {
    observers.interruptions.begin(name);
    node.tell(about({ from: (await chain.head()) + 1, to: Number.POSITIVE_INFINITY }));
    await delay(LIE_MS);
    told.push({ name, named: await namedBy(member.adminUrl) });
    node.tell(undefined);
    await delay(CALM_MS);
    // A killed one would keep its leases on PostgreSQL, and read nothing while the next lies are told.
    await member.end();
    await member.start();
  }
  return told;
}

/** Roles whose status names the node as one that contradicts a hash. */
async function namedBy(adminUrl: string): Promise<string> {
  const status: unknown = await (await fetch(`${adminUrl}/status`)).json();
  const named = Object.entries(Object(status)).filter(([, part]) =>
    /"contradicting_nodes":\[\{/.test(JSON.stringify(part)),
  );
  return named.length === 0 ? 'not named' : `named by ${named.map(([role]) => role).join(' and ')}`;
}

/** Compares each block that the index calls proven with the chain. Returns their numbers, for the report. */
async function provenBlocks({ chain, data, observers }: Stage): Promise<string> {
  const head = await chain.chain.head();
  let [shown, proven] = [0, 0];
  for (let height = 0; height <= head; height += 1) {
    const answer = await fetch(data.url + pathOfBlock({ chainId: chain.id, height }));
    if (!answer.ok) continue;
    const block: ExplorerSchemas['Block'] = JSON.parse(await answer.text());
    shown += 1;
    if (block.proven !== true) continue;
    proven += 1;
    const real = Object(await chain.ask('eth_getBlockByNumber', `0x${height.toString(16)}`, false));
    if (real.hash !== block.hash) observers.violation(`block ${height} with ${block.hash} is called proven`);
  }
  return `${shown}, ${proven} of them proven`;
}

/** Counts the payments that are called proven. Those that are lost or counted twice are judged elsewhere. */
async function provenPayments({ shops }: Stage): Promise<string> {
  let [proven, unproven] = [0, 0];
  for (const { client } of shops) {
    for (let page = 1; ; page += 1) {
      const path = `/api/v1/transactions?limit=${LIMIT}&page=${page}`;
      const list = await demand<PaymentsSchemas['PaymentTransactionList']>(client, { path });
      proven += list.data.filter(one => one.proven === true).length;
      unproven += list.data.filter(one => one.proven !== true).length;
      if (!list.has_more) break;
    }
  }
  return `${proven} proven, ${unproven} not`;
}
