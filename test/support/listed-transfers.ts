import type { Handle } from '#db/open.ts';
import type { Owner } from '#payments/model/owner.ts';
import type { UnmatchedTransfer } from '#payments/model/transfer.ts';
import type { SortedPage } from '#payments/search/sorted-page.ts';
import { foundTransfers } from '#payments/search/transfer-search.ts';
import { seals } from '#payments/secrets/sealed.ts';
import type { TransferFilters } from '#payments/store/transfer-store.ts';

const SEALED = seals(['a secret that no search without a text needs']);

/** Unmatched transfers of an owner, as the API lists them. */
export function listedTransfers(
  handle: Handle,
  owner: Owner,
  filters: TransferFilters,
  page: { readonly page: number; readonly limit: number },
): Promise<SortedPage<UnmatchedTransfer>> {
  return foundTransfers({ handle, seals: SEALED }, { owner, text: undefined }, filters, page);
}
