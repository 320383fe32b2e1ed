import type { Clock } from '../../lib/clock.ts';
import { NATIVE_COIN } from '../model/payment-chain.ts';
import type { HashStatus, Transfer } from '../model/transfer.ts';
import { type ReportedHash, reportedHashStore } from '../sessions/reported-hash-store.ts';
import { earliestPayment, LATE_PAYMENT_MS } from '../settlement/match.ts';
import { type LaneResult, NOTHING_DONE } from './look/lanes.ts';
import type { Look, TracedCheck } from './look/look.ts';
import { record } from './look/record.ts';
import { type HashLookup, lookUp, transfersIn } from './node/by-hash.ts';
import type { NodeReads } from './node/node-view.ts';

/** Most hashes that one look asks the nodes about. Each takes two or three requests per node. */
const HASHES_PER_LOOK = 10;
const SHORTEST_PAUSE_MS = 2_000;
/** Nodes that are asked and compared. */
const NODES_COMPARED = 2;

/** Answers of one node about hashes. Those for which it contradicts itself are left out. */
interface NodeFindings {
  readonly node: NodeReads;
  readonly lookups: ReadonlyMap<string, HashLookup>;
}

/** Answer of the nodes together about a hash. */
interface HashFinding {
  readonly status: HashStatus;
  /** Transfers that could pay a session that named the hash. */
  readonly transfers: readonly Transfer[];
}

/**
 * Looks up the hashes that payers reported (Decision 362). A transfer that the scan missed is recorded like any other
 * one, so that a report has no settlement of its own.
 */
export function reportedHashes({ clock, hasTraced }: { clock: Clock; hasTraced: TracedCheck }) {
  let lookedAt = Number.NEGATIVE_INFINITY;

  return {
    async run(look: Look): Promise<LaneResult> {
      const { chain, db } = look;
      const now = clock.now();
      if (now - lookedAt < SHORTEST_PAUSE_MS) return NOTHING_DONE;
      const due = await reportedHashStore(db).due(chain.id, { now, limit: HASHES_PER_LOOK });
      if (due.length === 0) return NOTHING_DONE;
      lookedAt = now;
      const byHash = Map.groupBy(due, one => one.txHash);
      const nodes = await askNodes([...byHash.keys()], look);
      const found: [string, HashFinding][] = [];
      for (const [txHash, wanted] of byHash) {
        const finding = await findingOf(txHash, wanted, { look, nodes, hasTraced });
        if (finding !== undefined) found.push([txHash, finding]);
      }
      const transfers = found.flatMap(([, finding]) => finding.transfers);
      const { changes, isWhole } =
        transfers.length === 0
          ? { changes: 0, isWhole: true }
          : await record(look, { transfers, repriced: new Map(), cursor: undefined });
      const settled = found.filter(([, finding]) => isWhole || finding.transfers.length === 0);
      await look.effect('reports', ({ handle }) =>
        reportedHashStore(handle).settle(
          chain.id,
          settled.map(([txHash, { status }]) => [txHash, status]),
        ),
      );
      return { changes: settled.length, isMoved: changes > 0 };
    },
  };
}

/** Asks the preferred nodes, each alone. @throws the error of the first one when none answers */
async function askNodes(hashes: readonly string[], { view, head }: Look): Promise<readonly NodeFindings[]> {
  const nodes = view.eachNode().slice(0, NODES_COMPARED);
  const answers = await Promise.allSettled(
    nodes.map(async node => ({ node, lookups: await lookUp(hashes, { view: node, head }) })),
  );
  const answered = answers.flatMap(answer => (answer.status === 'fulfilled' ? [answer.value] : []));
  const [first] = answers;
  if (answered.length === 0 && first?.status === 'rejected') throw first.reason;
  return answered;
}

/** Undefined while no node has an answer, or while only a contract may have paid, in a block that is not traced. */
async function findingOf(
  txHash: string,
  wanted: readonly ReportedHash[],
  { look, nodes, hasTraced }: { look: Look; nodes: readonly NodeFindings[]; hasTraced: TracedCheck },
): Promise<HashFinding | undefined> {
  const lookups = nodes.flatMap(({ lookups }) => lookups.get(txHash) ?? []);
  const mined = lookups.flatMap(lookup => (lookup.mined === undefined ? [] : [{ ...lookup.mined, lookup }]));
  const [first] = mined;
  if (first === undefined) {
    if (lookups.length === 0) return undefined;
    const isPending = lookups.some(({ transaction }) => transaction !== undefined);
    return { status: isPending ? 'pending' : 'unknown', transfers: [] };
  }
  const shown = mined.map(({ lookup }) => transfersOf(lookup, wanted, look));
  const texts = new Set(mined.map(({ receipt }, at) => factsText(receipt, shown[at] ?? [])));
  const others = nodes.filter(({ lookups }) => lookups.get(txHash)?.mined === undefined);
  if (texts.size > 1 || (await hasOtherBlock(first.header, others)))
    return { status: 'disputed', transfers: [] };
  const hasFailed = Number(first.receipt.status) !== 1;
  const transfers = shown[0] ?? [];
  const mayHaveMore =
    transfers.length === 0 && wanted.some(({ tokenAddress }) => tokenAddress === NATIVE_COIN);
  if (!hasFailed && mayHaveMore && !(await hasTraced(look, first.header))) return undefined;
  return { status: hasFailed ? 'failed' : 'mined', transfers };
}

/** The transfers of a transaction that could pay a session that named it. */
function transfersOf(
  lookup: HashLookup,
  wanted: readonly ReportedHash[],
  { chain, coinLogsFrom }: Look,
): Transfer[] {
  const isWanted = (token: string, recipient: string) =>
    wanted.some(one => one.tokenAddress === token && one.recipientAddress === recipient);
  const isInTime = ({ tokenAddress, recipient, blockTime }: Transfer) =>
    wanted.some(
      one =>
        one.tokenAddress === tokenAddress &&
        one.recipientAddress === recipient &&
        blockTime >= earliestPayment(one) &&
        blockTime <= one.endedAt + LATE_PAYMENT_MS,
    );
  const watched = { has: isWanted };
  return transfersIn(lookup, { chainId: chain.id, watched, coinLogsFrom }).filter(isInTime);
}

/** Text of the facts that two nodes must have in common. */
function factsText(
  { status, blockHash }: NonNullable<HashLookup['mined']>['receipt'],
  transfers: readonly Transfer[],
): string {
  const moved = transfers.map(
    one => `${one.logIndex} ${one.tokenAddress} ${one.sender} ${one.recipient} ${one.amount}`,
  );
  return [Number(status), blockHash.toLowerCase(), ...moved].join(', ');
}

/** True when a node has another block at this height. One that has none yet, or fails, contradicts nothing. */
async function hasOtherBlock(
  { number, hash }: { readonly number: number; readonly hash: string },
  nodes: readonly NodeFindings[],
): Promise<boolean> {
  const answers = await Promise.allSettled(nodes.map(({ node }) => node.headers([number])));
  const headers = answers.flatMap(answer => (answer.status === 'fulfilled' ? [answer.value] : []));
  return headers.some(shown => (shown.get(number)?.hash ?? hash) !== hash);
}
