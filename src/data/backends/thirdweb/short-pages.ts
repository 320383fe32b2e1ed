import { BackendError, isOfKind } from '../port/backend-error.ts';
import type { InsightsAsk } from '../port/insights-backend.ts';
import { firstOfChains } from './source.ts';

/** Page size for transfers, tokens and NFTs that every generation of upstream supports. */
const PAGE_SIZE = 100;
/** Last page that every generation supports. */
const LAST_PAGE = 20;

/** Page of each chain's list. */
interface PageRequest {
  readonly limit: number;
  readonly page: number;
}

interface ChainRow {
  readonly chain_id: number;
}

/** Reads a page with a `limit` from 1 to the upstream maximum. */
type PageReader<Row> = (page: PageRequest) => Promise<readonly Row[]>;

/**
 * Reads a page of any length for each chain, assembled from upstream pages. Upstream refuses 0, but a request is still
 * needed to know whether the contract or name exists.
 */
export async function rowsOfPage<Row extends ChainRow>(
  { limit, page }: PageRequest,
  { chainIds }: Pick<InsightsAsk, 'chainIds'>,
  readPage: PageReader<Row>,
): Promise<Row[]> {
  if (limit === 0) {
    await pageOf({ limit: 1, page: 0 });
    return [];
  }
  return limit <= PAGE_SIZE ? pageOf({ limit, page }) : windowOf(page * limit, limit);

  /** Returns the rows of each chain from `offset` on. */
  async function windowOf(offset: number, length: number): Promise<Row[]> {
    const first = Math.floor(offset / PAGE_SIZE);
    const end = Math.ceil((offset + length) / PAGE_SIZE);
    const rows: Row[] = [];
    const ofChain = (list: readonly Row[], id: number) => list.filter(row => row.chain_id === id);
    for (let at = first; at < end; at += 1) {
      const found = await pageOf({ limit: PAGE_SIZE, page: at });
      rows.push(...found);
      if (!chainIds.some(id => ofChain(found, id).length >= PAGE_SIZE)) break;
    }
    const skipped = offset - first * PAGE_SIZE;
    return chainIds.flatMap(id => ofChain(rows, id).slice(skipped, skipped + length));
  }

  async function pageOf(asked: PageRequest): Promise<Row[]> {
    const rows = await readPage(asked).catch((error: unknown) => {
      throw asked.page > LAST_PAGE && isOfKind(error, 'rejected')
        ? new BackendError('unsupported', 'no_such_answer', 'it has no page that far back', { cause: error })
        : error;
    });
    return firstOfChains(rows, { chainIds, limit: asked.limit });
  }
}
