import type { Tester } from '../tester.ts';

/** A PNG of one pixel. */
const DATA =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** Uploads a picture, names it as the logo and deletes it. Restores the logo. */
export async function imagesStory(tester: Tester): Promise<void> {
  const { logo_url = null } = (await tester.ask('getOrganization', {}, ['200'])).body;
  const { body: image } = await tester.ask('uploadImage', { body: { data: DATA } }, ['201']);
  const again = await tester.ask('uploadImage', { body: { data: DATA } }, ['201']);
  if (again.body.id !== image.id) tester.report('uploadImage: the same picture is stored twice');
  const svg = btoa('<svg xmlns="http://www.w3.org/2000/svg"/>');
  await tester.ask('uploadImage', { body: { data: svg } }, ['400 invalid_field_value data']);
  const at = { image_id: String(image.id) };
  try {
    await tester.ask('updateOrganization', { body: { logo_url: String(image.url) } }, ['200']);
    await tester.ask('deleteImage', { at }, ['400 invalid_status_transition']);
  } finally {
    await tester.ask('updateOrganization', { body: { logo_url } }, ['200']);
  }
  await tester.ask('deleteImage', { at }, ['200']);
}
