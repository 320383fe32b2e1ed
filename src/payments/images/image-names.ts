import { InvalidBody } from '#contract/contracts/violations.ts';
import type { Transaction } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { imageIdIn } from '../browser/image-address.ts';
import type { Owner } from '../model/owner.ts';
import type { PaymentLink } from '../model/payment-link.ts';
import { select } from '../tables/select.ts';
import { imageStore } from './image-store.ts';

/** Record with addresses of pictures. */
export interface NamingRecord extends Owner {
  /** Id of a link; undefined for the organization's settings of the mode. */
  readonly linkId?: string;
  /** Addresses by the field of the contract that holds them. */
  readonly addresses: readonly (readonly [field: string, address: string | null | undefined])[];
}

/** A link as a record with pictures. */
export function picturesOfLink(link: PaymentLink): NamingRecord {
  return {
    organizationId: link.organizationId,
    mode: link.mode,
    linkId: link.id,
    addresses: [
      ['image_url', link.imageUrl],
      ['branding.logo_url', link.branding?.logo_url],
      ...link.items.map((item, index) => [`items.${index}.image_url`, item.image_url] as const),
    ],
  };
}

/**
 * Notes which uploaded pictures a record names, in the transaction that writes it, so that they are kept while it does
 * (Decision 447). `now` is UTC milliseconds.
 * @throws InvalidBody for a picture that its organization does not have in its mode
 */
export async function nameImages(handle: Transaction, record: NamingRecord, now: number): Promise<void> {
  const { organizationId, mode, linkId, addresses } = record;
  const namedBy = linkId ?? `${organizationId}/${mode}`;
  const named = new Map<string, string>();
  for (const [field, address] of addresses) {
    const id = imageIdIn(address ?? '');
    if (id !== undefined && !named.has(id)) named.set(id, field);
  }
  const rows = await select({ from: 'image_names', columns: ['image_id'] }).rows(
    handle,
    'where named_by = ?',
    [namedBy],
  );
  const before = new Set(rows.map(row => row.image_id));
  for (const id of before) {
    if (named.has(id)) continue;
    await execute(handle, 'delete from image_names where named_by = ? and image_id = ?', [namedBy, id]);
    await imageStore(handle).use(id, now);
  }
  for (const [id, field] of named) {
    if (before.has(id)) continue;
    if ((await imageStore(handle).find(record, id)) === undefined)
      throw new InvalidBody(field, `names no image that was uploaded in ${mode} mode`);
    await handle('image_names').insert({ named_by: namedBy, image_id: id });
    await execute(handle, 'update images set was_named = true where id = ?', [id]);
  }
}

/** True while the settings of an organization or a link name a picture. */
export async function isImageNamed(handle: Transaction, id: string): Promise<boolean> {
  const rows = await select({ from: 'image_names', columns: ['image_id'] }).rows(
    handle,
    'where image_id = ? limit 1',
    [id],
  );
  return rows.length > 0;
}
