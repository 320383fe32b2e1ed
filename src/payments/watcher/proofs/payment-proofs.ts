import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { PaymentChain } from '../../model/payment-chain.ts';
import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import { isOfContract } from '../../model/transfer.ts';
import { setAsideStore } from '../../store/set-aside-store.ts';
import type { PaymentProofs } from '../look/completions.ts';
import type { Look } from '../look/look.ts';
import type { BlockEvidence, BlockEvidences, BlockInQuestion } from './block-evidence.ts';
import { contains } from './proven-transfers.ts';
import { nodesThatShow } from './untrue-transfers.ts';

/** Time for which a look waits for blocks. A full block of a large chain takes a second. */
const WAIT_MS = 500;
/** Time for which a block is remembered, and most blocks that are. */
const REMEMBERED_MS = 30_000;
const REMEMBERED_BLOCKS = 16;
/** Time for which nodes that fail are asked again where a proof is required, and the pause between two attempts. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 2_000;
/** Blocks that are read at a time. Each may be as large as an answer can be. */
const AT_A_TIME = 4;
/** Least time between two warnings of payments without a proof. */
const WARN_EVERY_MS = 60_000;

/** A block with payments. */
interface PaymentsBlock extends BlockInQuestion {
  readonly transactions: ReadonlySet<string>;
}

/** A block that was asked for. */
interface RequestedBlock {
  readonly block: PaymentsBlock;
  readonly since: number;
  readonly answer: Promise<unknown>;
  /** Undefined until it is known. */
  evidence: BlockEvidence | undefined;
}

export function paymentProofs({
  chain,
  evidence,
  hasProven,
  clock,
  log,
}: {
  readonly chain: Pick<PaymentChain, 'id' | 'prove' | 'requiresProof'>;
  readonly evidence: BlockEvidences;
  /** True for a payment whose block was proven before, and contains it. */
  readonly hasProven: (row: PaymentTransaction) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}): PaymentProofs {
  if (chain.prove === 'off') return WITHOUT_PROOFS;
  const requested = new Map<string, RequestedBlock>();
  /** First failure of the nodes to give a block, by its hash. */
  const failedAt = new Map<string, number>();
  let isWaiting = false;
  let warnedAt = Number.NEGATIVE_INFINITY;

  /** The request for a block, begun if there is room; undefined leaves the block to a later look. */
  function request(look: Look, block: PaymentsBlock): RequestedBlock | undefined {
    const known = requested.get(block.hash);
    const hasAll = known !== undefined && block.transactions.isSubsetOf(known.block.transactions);
    if (hasAll || (known !== undefined && known.evidence === undefined)) return hasAll ? known : undefined;
    const open = [...requested.values()].filter(one => one.evidence === undefined);
    if (open.length >= AT_A_TIME) return undefined;
    const { promise: answer, resolve } = Promise.withResolvers<void>();
    const added: RequestedBlock = { block, since: clock.now(), answer, evidence: undefined };
    requested.set(block.hash, added);
    void evidence.of(look.view, block).then(found => {
      added.evidence = found;
      resolve();
    });
    return added;
  }

  /** Asks for the blocks, a few at a time, and waits for a while. */
  async function read(look: Look, blocks: readonly PaymentsBlock[]): Promise<void> {
    const waiting = new AbortController();
    let isOver = false;
    const patience = clock
      .sleep(WAIT_MS, waiting.signal)
      .catch(() => {})
      .finally(() => {
        isOver = true;
      });
    for (let left = blocks; left.length > 0 && !isOver; ) {
      const begun = left.flatMap(block => request(look, block) ?? []);
      left = left.filter(({ hash }) => !begun.some(({ block }) => block.hash === hash));
      const open = [...requested.values()].filter(one => one.evidence === undefined);
      const awaited = left.length > 0 ? Promise.race(open.map(one => one.answer)) : allOf(begun);
      await Promise.race([awaited, patience]);
    }
    waiting.abort();
    await patience;
  }

  function forgetOld(): void {
    const answered = [...requested.values()].filter(one => one.evidence !== undefined);
    const tooMany = answered.slice(0, -REMEMBERED_BLOCKS);
    for (const one of answered) {
      const isOld = clock.now() - one.since >= REMEMBERED_MS || tooMany.includes(one);
      if (isOld) requested.delete(one.block.hash);
    }
  }

  /** True for a block that a later look asks for again, because without a proof its checkouts end. */
  function mayHeal({ block: { hash }, since, evidence: found }: RequestedBlock): boolean {
    const isFailure = found?.kind === 'unproven' && found.cause === 'node';
    if (chain.requiresProof !== true || !isFailure) return false;
    const first = failedAt.get(hash) ?? clock.now();
    failedAt.set(hash, first);
    if (Math.abs(clock.now() - first) >= PATIENCE_MS) return false;
    if (Math.abs(clock.now() - since) >= RETRY_MS) requested.delete(hash);
    return true;
  }

  function warn({ blockNumber, txHash }: PaymentTransaction, reason: string): void {
    if (Math.abs(clock.now() - warnedAt) < WARN_EVERY_MS) return;
    warnedAt = clock.now();
    log.warn(
      { chainId: chain.id, block: blockNumber, txHash, reason },
      'a payment is completed without a proof of its block',
    );
  }

  return {
    unprovenMark: false,
    isWaiting: () => isWaiting,
    async judge(look, payments) {
      forgetOld();
      const [provable, unprovable] = [
        payments.filter(one => !isOfContract(one.logIndex)),
        payments.filter(one => isOfContract(one.logIndex)),
      ];
      const isKnown = Map.groupBy(provable, hasProven);
      const known = isKnown.get(true) ?? NONE;
      const unknown = isKnown.get(false) ?? NONE;
      const blocks = blocksOf(unknown);
      if (blocks.length > 0) await read(look, blocks);
      const judged = { proven: known, untrue: NONE, unproven: unprovable, contradicted: NONE };
      for (const hash of failedAt.keys()) if (!blocks.some(one => one.hash === hash)) failedAt.delete(hash);
      for (const { hash } of blocks) {
        const asked = requested.get(hash);
        const found = asked?.evidence;
        const rows = unknown.filter(one => one.blockHash === hash);
        const [first] = rows;
        if (asked === undefined || found === undefined || first === undefined || mayHeal(asked)) continue;
        if (found.kind === 'proven') {
          const isIn = (one: PaymentTransaction) => contains(found.transactions.get(one.txHash ?? ''), one);
          judged.proven = [...judged.proven, ...rows.filter(isIn)];
          judged.untrue = [...judged.untrue, ...rows.filter(one => !isIn(one))];
        } else if (found.kind === 'unproven') {
          warn(first, found.reason);
          judged.unproven = [...judged.unproven, ...rows];
        } else {
          if (found.kind === 'contradicted') judged.contradicted = [...judged.contradicted, ...rows];
          requested.delete(hash);
        }
      }
      const count = judged.proven.length + judged.untrue.length + judged.unproven.length;
      isWaiting = count + judged.contradicted.length < payments.length;
      if (judged.contradicted.length > 0) await setAside(look, judged.contradicted);
      await nodesThatShow(look.view, judged.untrue, (node, { blockNumber, txHash }) => {
        const reason = `it shows a transfer in ${txHash} that the block does not contain`;
        evidence.leaveOut(node, { block: blockNumber ?? 0, reason });
      });
      return judged;
    },
    forget() {
      requested.clear();
      failedAt.clear();
      isWaiting = false;
    },
  };
}

const NONE: readonly PaymentTransaction[] = [];

const WITHOUT_PROOFS: PaymentProofs = {
  unprovenMark: null,
  isWaiting: () => false,
  judge: async (_, payments) => ({ proven: NONE, untrue: NONE, unproven: payments }),
  forget() {},
};

function blocksOf(payments: readonly PaymentTransaction[]): PaymentsBlock[] {
  const byBlock = Map.groupBy(payments, one => one.blockHash);
  return [...byBlock].flatMap(([hash, rows]) => {
    const number = rows[0]?.blockNumber ?? null;
    const transactions = new Set(rows.flatMap(one => one.txHash ?? []));
    return hash === null || number === null ? [] : [{ number, hash, transactions }];
  });
}

function allOf(blocks: readonly RequestedBlock[]): Promise<unknown> {
  return Promise.all(blocks.map(one => one.answer));
}

/** Lets payments wait whose block every node contradicts, as those whose receipt cannot be read. */
async function setAside(
  { chain, effect, log }: Look,
  payments: readonly PaymentTransaction[],
): Promise<void> {
  const hashes = [...new Set(payments.flatMap(one => one.txHash ?? []))];
  await effect('confirm', async ({ handle, now }) => {
    for (const txHash of hashes)
      await setAsideStore(handle).add(chain.id, { txHash, reason: 'contradicted' }, now);
  });
  const text = 'transactions are set aside, because every node contradicts the hash of their block';
  log.warn({ chainId: chain.id, transactions: hashes.slice(0, NAMED), count: hashes.length }, text);
}

/** Most transactions that a line names. */
const NAMED = 10;
