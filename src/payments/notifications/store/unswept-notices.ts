import type { Handle } from '#db/open.ts';
import { newId } from '#lib/ids.ts';
import type { Owner } from '../../model/owner.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { noticeStore } from './notice-store.ts';

/** Queues a mail that half of what may lie on deposit addresses is not swept. It is sent even when mails are off. */
export async function noteUnswept(
  { handle, seals, now }: { readonly handle: Handle; readonly seals: Seals; readonly now: number },
  { organizationId, mode, chainId, tokenAddress }: Owner & { chainId: number; tokenAddress: string },
  { unswept, limit }: { readonly unswept: bigint; readonly limit: bigint },
): Promise<void> {
  const amounts = { unswept: unswept.toString(), limit: limit.toString() };
  const payload = { kind: 'unswept', chainId, tokenAddress, ...amounts, noticedAt: now } as const;
  await noticeStore(handle, seals).insert([
    { id: newId('ntc'), organizationId, mode, channel: 'email', payload, attempts: 0, createdAt: now },
  ]);
}
