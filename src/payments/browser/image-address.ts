/** Path below which uploaded pictures are read (Decision 447). */
export const IMAGES_PATH = '/pay/images/';

const OWN = /^(?:https?:\/\/[^?#]*)?\/pay\/images\/(img_[0-9A-Za-z]{24})$/;

/** Id of the uploaded picture that an address names, on whatever host; undefined for any other address. */
export function imageIdIn(address: string): string | undefined {
  return OWN.exec(address)?.[1];
}

/**
 * Address from which a page loads a picture. An uploaded one comes from the page's own host, so that it is shown where the
 * service has no https and after its public address has changed. Any other has to be https. Null for none.
 */
export function pictureAddress(address: string | null): string | null {
  if (address === null) return null;
  const id = imageIdIn(address);
  if (id !== undefined) return IMAGES_PATH + id;
  return /^https:\/\//i.test(address) ? address : null;
}
