import { createHash } from 'node:crypto';
import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { paymentsError } from '#contract/contracts/payments-errors.ts';
import { InvalidBody } from '#contract/contracts/violations.ts';
import { isShowable, rasterPictureIn } from '#http/raster-picture.ts';
import { timestamp } from '#lib/clock.ts';
import { newId } from '#lib/ids.ts';
import { IMAGES_PATH } from '../../browser/image-address.ts';
import { isImageNamed } from '../../images/image-names.ts';
import { type Image, imageStore } from '../../images/image-store.ts';
import type { ApiHandlers, PaymentsContext } from '../gate/api-context.ts';
import { resourceNotFound } from '../responses/answers.ts';

const MAX_BYTES = 2 ** 20;
/** Pictures of an organization in one mode. */
const MAX_IMAGES = 500;
const MAX_TOTAL_BYTES = 100 * 2 ** 20;

/** Operations on uploaded pictures (Decision 447). */
export function imageHandlers({ clock, publicUrl }: Pick<PaymentsContext, 'clock' | 'publicUrl'>) {
  return {
    uploadImage({ body: { data } }, caller) {
      const picture = pictureIn(data);
      const digest = createHash('sha256').update(picture.bytes).digest();
      return caller.commit(async handle => {
        const now = clock.now();
        const { organizationId, mode } = caller;
        const store = imageStore(handle);
        const known = await store.findByDigest(caller, digest);
        if (known !== undefined) {
          await store.use(known.id, now);
          return { status: 201, body: imageBody(known, publicUrl) };
        }
        const { bytes, ...facts } = picture;
        const image = {
          id: newId('img'),
          organizationId,
          mode,
          ...facts,
          size: bytes.length,
          createdAt: now,
        };
        checkSpace(await store.sizeOf(caller), bytes.length);
        await store.insert(image, { bytes, digest });
        return { status: 201, body: imageBody(image, publicUrl) };
      });
    },

    deleteImage: ({ path: { image_id: id } }, caller) =>
      caller.commit(async handle => {
        const store = imageStore(handle);
        if ((await store.find(caller, id)) === undefined) throw resourceNotFound('image', id);
        if (await isImageNamed(handle, id))
          throw paymentsError(
            'invalid_status_transition',
            'The organization or a payment link still names this image.',
          );
        await store.remove(caller, id);
        return { status: 200, body: { object: 'image', id, deleted: true } as const };
      }),
  } satisfies ApiHandlers;
}

/** Judges a picture by its bytes, because its name and its claimed type say nothing. @throws InvalidBody */
function pictureIn(data: string): Pick<Image, 'type' | 'width' | 'height'> & { readonly bytes: Buffer } {
  const bytes = Buffer.from(data, 'base64');
  if (bytes.length > MAX_BYTES) throw new InvalidBody('data', `must not hold more than ${MAX_BYTES} bytes`);
  const picture = rasterPictureIn(bytes);
  // The size of an AVIF is not certain before it is decoded.
  if (picture === undefined || picture.type === 'image/avif')
    throw new InvalidBody('data', 'must hold a PNG, JPEG, WebP or GIF');
  const { type, size } = picture;
  if (size === undefined) throw new InvalidBody('data', 'must hold a complete picture');
  if (!isShowable(picture))
    throw new InvalidBody(
      'data',
      'must not hold a picture of so many pixels: 25 million, or 4 million if it moves',
    );
  return { type, width: size.width, height: size.height, bytes };
}

/** @throws HttpError invalid_status_transition when there is no space for `more` bytes */
function checkSpace({ count, bytes }: { count: number; bytes: number }, more: number): void {
  if (count < MAX_IMAGES && bytes + more <= MAX_TOTAL_BYTES) return;
  throw paymentsError(
    'invalid_status_transition',
    `The organization has ${count} images with ${bytes} bytes. At most ${MAX_IMAGES} with ${MAX_TOTAL_BYTES} are kept: delete some that are not used.`,
  );
}

function imageBody(image: Image, publicUrl: string): PaymentsSchemas['Image'] {
  const { id, mode, type, width, height, size, createdAt } = image;
  return {
    object: 'image',
    id,
    mode,
    url: publicUrl + IMAGES_PATH + id,
    type,
    width,
    height,
    size,
    created_at: timestamp(createdAt),
  };
}
