import { setTimeout as delay } from 'node:timers/promises';
import { lowerCase } from '#evm/address.ts';
import { type DatabaseOptions, type Db, openForReads } from '../db/open.ts';
import type { provenBlock } from '../indexer/read/blocks/proven-block.ts';
import type { ClockAndLog } from '../lib/logger.ts';

/** Reads blocks that the indexes of this installation have proven, in a process that may not serve them. */
export interface IndexedChains {
  /** Undefined for a chain without an index. */
  ofChain(chainId: number): ReadIndex | undefined;
  close(): Promise<void>;
}

type ProvenBlock = Awaited<ReturnType<typeof provenBlock>>;

/** The proven blocks of one index. */
interface ReadIndex {
  /** Never rejects: an index that cannot be read has no block. */
  block(at: {
    readonly number: number;
    readonly hash: string;
    readonly hashes: ReadonlySet<string> | undefined;
  }): Promise<ProvenBlock>;
  close(): Promise<void>;
}

/** A chain with its back ends, in their order. */
interface ConfiguredChain {
  readonly id: number;
  readonly backends: readonly ({ readonly kind: string } | IndexSettings)[];
}

interface IndexSettings {
  readonly kind: 'index';
  readonly database: DatabaseOptions;
}

/** Time after which an index without an answer counts as one that cannot be read. No payment waits for it. */
const LIMIT_MS = 2_000;
/** Time for which an index that cannot be read is not asked. It may not exist yet, or be of another version. */
const REST_MS = 10_000;
const ABSENT: ProvenBlock = { kind: 'absent', head: undefined };

/** Opens the first index of each chain with its first question. */
export function openIndexedChains(chains: readonly ConfiguredChain[], deps: ClockAndLog): IndexedChains {
  const indexes = new Map(
    chains.flatMap(({ id, backends }) => {
      const index = backends.find(isIndex);
      return index === undefined ? [] : [[id, readIndex(id, index.database, deps)] as const];
    }),
  );
  return {
    ofChain: id => indexes.get(id),
    close: async () => void (await Promise.all([...indexes.values()].map(one => one.close()))),
  };
}

function isIndex(backend: ConfiguredChain['backends'][number]): backend is IndexSettings {
  return backend.kind === 'index';
}

function readIndex(chainId: number, database: DatabaseOptions, { clock, log }: ClockAndLog): ReadIndex {
  let opened: Promise<Db> | undefined;
  let restsUntil = Number.NEGATIVE_INFINITY;

  async function open(): Promise<Db> {
    const { indexOptions } = await import('../indexer/schema/migrations/index-migrations.ts');
    return openForReads(indexOptions(database, chainId));
  }

  async function close(): Promise<void> {
    const closing = opened;
    opened = undefined;
    await (await closing)?.destroy();
  }

  function rest(err: unknown): ProvenBlock {
    restsUntil = clock.now() + REST_MS;
    log.info({ chainId, err }, 'the index of a chain cannot be read for proofs of payments');
    return ABSENT;
  }

  async function read({ number, hash, hashes }: Parameters<ReadIndex['block']>[0]): Promise<ProvenBlock> {
    try {
      const { provenBlock: blockOf } = await import('../indexer/read/blocks/proven-block.ts');
      opened ??= open();
      return await blockOf(await opened, { number, hash: lowerCase(hash), hashes });
    } catch (error) {
      // A statement without an answer would hold up the others that ask.
      void close().catch(() => {});
      return rest(error);
    }
  }

  return {
    async block(at) {
      if (clock.now() < restsUntil) return ABSENT;
      const ended = new AbortController();
      const limit = delay(LIMIT_MS, undefined, { signal: ended.signal }).then(
        () => rest(new Error(`it did not answer within ${LIMIT_MS} ms`)),
        () => ABSENT,
      );
      return Promise.race([read(at), limit]).finally(() => ended.abort());
    },
    close,
  };
}
