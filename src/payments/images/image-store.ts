import type { Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { DAY_MS } from '#lib/clock.ts';
import type { Owner } from '../model/owner.ts';
import { keyOf, ownedRow } from '../store/list-query.ts';
import type { ImageType } from '../tables/organization-tables.ts';
import { recordForm } from '../tables/record-form.ts';
import { select } from '../tables/select.ts';

/** A picture that an organization uploaded for one mode, without its bytes. Times are UTC milliseconds. */
export interface Image extends Owner {
  readonly id: string;
  /** Media type, as the first bytes show it. */
  readonly type: ImageType;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  /** In bytes. */
  readonly size: number;
  readonly createdAt: number;
}

/** Content of a picture, as it is sent to browsers. */
export interface ImageFile {
  readonly type: ImageType;
  readonly bytes: Buffer;
}

/** Retention of a picture that nothing has named, and of one that nothing names any more (Decision 447). */
const NEVER_NAMED_MS = DAY_MS;
const ONCE_NAMED_MS = 30 * DAY_MS;

const images = select({
  from: 'images',
  columns: ['id', 'organization_id', 'mode', 'type', 'width', 'height', 'size', 'created_at'],
});

const form = recordForm<Image>({
  id: 'plain',
  organizationId: 'plain',
  mode: 'plain',
  type: 'plain',
  width: 'plain',
  height: 'plain',
  size: 'plain',
  createdAt: 'plain',
});

/** Uploaded pictures. An organization has a picture once in each mode, by the SHA-256 of its bytes. */
export function imageStore(handle: Handle) {
  return {
    async insert(image: Image, { bytes, digest }: { bytes: Buffer; digest: Buffer }): Promise<void> {
      await handle('images').insert({
        ...form.rowOf(image),
        digest,
        was_named: false,
        used_at: image.createdAt,
        bytes,
      });
    },

    async find(owner: Owner, id: string): Promise<Image | undefined> {
      const { sql, bindings } = ownedRow(owner, id);
      const [row] = await images.rows(handle, `where ${sql}`, bindings);
      return row && form.recordOf(row);
    },

    async findByDigest({ organizationId, mode }: Owner, digest: Buffer): Promise<Image | undefined> {
      const [row] = await images.rows(handle, 'where organization_id = ? and mode = ? and digest = ?', [
        organizationId,
        mode,
        digest,
      ]);
      return row && form.recordOf(row);
    },

    /** Begins the retention of a picture again, because it was uploaded again. */
    async use(id: string, now: number): Promise<void> {
      await execute(handle, 'update images set used_at = ? where id = ?', [now, id]);
    },

    /** Of any owner, because payers know only the address. */
    async file(id: string): Promise<ImageFile | undefined> {
      const [row] = await select({ from: 'images', columns: ['type', 'bytes'] }).rows(
        handle,
        'where id = ?',
        [id],
      );
      return row;
    },

    /** Number of an organization's pictures in one mode, and the sum of their sizes in bytes. */
    async sizeOf({ organizationId, mode }: Owner): Promise<{ count: number; bytes: number }> {
      const [row] = await select({
        from: 'images',
        columns: [],
        computed: {
          total: ['count', 'count(*)'],
          bytes_total: ['count', 'cast(coalesce(sum(size), 0) as bigint)'],
        },
      }).rows(handle, 'where organization_id = ? and mode = ?', [organizationId, mode]);
      return { count: row?.total ?? 0, bytes: row?.bytes_total ?? 0 };
    },

    async remove(owner: Owner, id: string): Promise<void> {
      await handle('images').where(keyOf(owner, id)).delete();
    },

    /** Removes at most `limit` pictures that nothing names, of all owners. Resolves to their number. */
    removeUnnamed: ({ now, limit }: { now: number; limit: number }): Promise<number> =>
      execute(
        handle,
        `delete from images where id in (
           select id from images where used_at < ? and (not was_named or used_at < ?)
             and not exists (select 1 from image_names where image_id = images.id)
           order by used_at limit ?
         )`,
        [now - NEVER_NAMED_MS, now - ONCE_NAMED_MS, limit],
      ),
  };
}
