import { numberToHex } from 'viem';
import type { Db } from '../db/open.ts';
import { inTime } from '../lib/in-time.ts';
import { type ClockAndLog, logAndGoOn } from '../lib/logger.ts';
import type { ChainClient } from '../node/client.ts';
import type { Contradictions } from '../node/contradictions.ts';
import { type ChainProofs, chainProofs } from './fetch/chain-proofs.ts';
import type { ProgressPublisher } from './index-progress.ts';
import { firstNumber, hashAt, readHead } from './schema/head.ts';

/** Recomputed blocks of an index, and contradictions of its nodes. */
interface ProofStatus {
  /** Share of the blocks that are proven, from 0 to 1; undefined while there are none. */
  readonly provenShare: number | undefined;
  /** Reason for which the chain counts as unproven; undefined while it does not. */
  readonly unprovable: string | undefined;
  /** Nodes that are left out now. */
  readonly contradicting: ReturnType<Contradictions['current']>;
  /** Number of times that nodes were left out since the start, by host name. */
  readonly contradictions: ReadonlyMap<string, number>;
  /**
   * Number of different hosts whose nodes name our block at the depth of finality. Undefined until they were asked, and
   * while the index is empty.
   */
  readonly headAgreedBy: number | undefined;
}

interface IndexProofsDeps extends ClockAndLog {
  readonly db: Db;
  readonly client: ChainClient;
  readonly chain: { readonly id: number; readonly confirmations: number };
  readonly progress: Pick<ProgressPublisher, 'status'>;
}

/** Proofs of one index. */
export interface IndexProofs {
  readonly chain: ChainProofs;
  status(): ProofStatus;
  /** A sentence while the index waits for a block that fits its hash. */
  warning(): string | undefined;
  /** Asks the nodes for a final block, unless they were asked just now. Never rejects. */
  askNodes(): Promise<void>;
}

/** Longest wait for the nodes. */
const WITHIN_MS = 1_000;
/** Least time between two questions to the nodes. */
const EVERY_MS = 10_000;

export function indexProofs({ db, client, chain, progress, clock, log }: IndexProofsDeps): IndexProofs {
  const { nodes, contradictions } = client;
  const proofs = chainProofs({ chainId: chain.id, clock, log });
  let headAgreedBy: number | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;

  async function hostsThatAgree(): Promise<number | undefined> {
    const [head, first] = await Promise.all([readHead(db), firstNumber(db)]);
    if (head === null) return undefined;
    const number = Math.max(first ?? 0, head.number - chain.confirmations);
    const ours = await hashAt(db, number);
    const signal = AbortSignal.timeout(WITHIN_MS);
    const hosts = await Promise.all(
      nodes.map(async ({ host, raw, verify }, position) => {
        if (contradictions.isLeftOut(position)) return [];
        const header = verify().then(() =>
          raw({ method: 'eth_getBlockByNumber', params: [numberToHex(number), false] }, { signal }),
        );
        // The sync reports a node that is away. Here it names nothing.
        return (await inTime(header, WITHIN_MS).catch(() => null))?.hash === ours ? [host] : [];
      }),
    );
    return new Set(hosts.flat()).size;
  }

  return {
    chain: proofs,
    status() {
      const { blocks, provenBlocks } = progress.status();
      return {
        provenShare: blocks === 0 ? undefined : provenBlocks / blocks,
        unprovable: proofs.unprovable(),
        contradicting: contradictions.current(),
        contradictions: contradictions.counts(),
        headAgreedBy,
      };
    },
    warning() {
      const block = proofs.waiting(progress.status().head ?? -1);
      return block && `the index of chain ${chain.id} waits at block ${block.number}: ${block.reason}`;
    },
    async askNodes() {
      if (Math.abs(clock.now() - askedAt) < EVERY_MS) return;
      askedAt = clock.now();
      try {
        headAgreedBy = await hostsThatAgree();
      } catch (error) {
        logAndGoOn(log, 'asking nodes for a final block')(error);
      }
    },
  };
}
