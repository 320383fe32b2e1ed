import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { record, text } from '../../lab/json.ts';
import { eachDatabase } from '../../support/databases.ts';
import { type ApiClient, errorOf } from '../../support/payments-api.ts';
import { type DashboardGround, startDashboardGround } from '../dashboard/dashboard-ground.ts';
import { gif, png } from './picture-bytes.ts';

const IMAGES = '/api/v1/images';
const LINKS = '/api/v1/payment-links';
const LINK = { name: 'Field notebooks', amount: '7' };

eachDatabase('uploaded images', databases => {
  let ground: DashboardGround;
  beforeAll(async () => {
    ground = await startDashboardGround(await databases.create('payments'));
  });
  afterAll(() => ground.close());

  const upload = (client: ApiClient, bytes: Buffer) =>
    client.post(IMAGES, { data: bytes.toString('base64') });
  const uploaded = async (client: ApiClient, bytes = png(3, 2)) => {
    const { status, body } = await upload(client, bytes);
    expect(status).toBe(201);
    return { id: text(record(body).id), url: text(record(body).url) };
  };
  const shown = async (path: string) => {
    const answer = await fetch(new URL(path, ground.service.url));
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
  };

  test('are described by their bytes, and sent to anyone as they are', async () => {
    const bytes = png(640, 480);

    const { status, body } = await upload(ground.api(ground.key()), bytes);
    const { answer, bytes: sent } = await shown(text(record(body).url));

    expect([status, body]).toEqual([
      201,
      {
        object: 'image',
        id: expect.stringMatching(/^img_[0-9A-Za-z]{24}$/),
        mode: 'test',
        url: `${ground.service.url}/pay/images/${text(record(body).id)}`,
        type: 'image/png',
        width: 640,
        height: 480,
        size: bytes.length,
        created_at: new Date(ground.clock.now()).toISOString(),
      },
    ]);
    expect(sent).toEqual(bytes);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'cross-origin',
    });
  });

  test('one that a browser has is not sent again, and an unknown one is missing', async () => {
    const { url } = await uploaded(ground.api(ground.key()));
    const { answer } = await shown(url);

    const again = await fetch(url, { headers: { 'If-None-Match': answer.headers.get('etag') ?? '' } });
    const missing = await fetch(`${url.slice(0, -1)}_`);
    const unknown = await fetch(new URL(`/pay/images/img_${'0'.repeat(24)}`, url));

    expect([again.status, missing.status, unknown.status]).toEqual([304, 404, 404]);
    expect(unknown.headers.get('cache-control')).not.toContain('immutable');
  });

  test('the same picture is stored once per organization', async () => {
    const [ours, theirs] = [ground.api(ground.key()), ground.api(ground.key())];
    const first = await uploaded(ours, png(5, 5));

    expect(await uploaded(ours, png(5, 5))).toEqual(first);
    expect((await uploaded(theirs, png(5, 5))).id).not.toBe(first.id);
  });

  test.each([
    [
      'an SVG',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      'must hold a PNG, JPEG, WebP or GIF',
    ],
    ['HTML', Buffer.from('<!doctype html><script>1</script>'), 'must hold a PNG, JPEG, WebP or GIF'],
    [
      'an AVIF',
      Buffer.from('\0\0\0\x18ftypavif\0\0\0\0avifmif1', 'latin1'),
      'must hold a PNG, JPEG, WebP or GIF',
    ],
    ['a PNG that breaks off', png(3, 2).subarray(0, 12), 'must hold a complete picture'],
    ['one of too many pixels', png(6_000, 6_000), '25 million'],
    ['a moving one of too many pixels', gif(3_000, 3_000, 2), '4 million if it moves'],
    [
      'one of a byte too many',
      Buffer.concat([png(3, 2), randomBytes(2 ** 20)]).subarray(0, 2 ** 20 + 1),
      'more than 1048576 bytes',
    ],
  ])('%s is refused', async (_, bytes, reason) => {
    const answer = await upload(ground.api(ground.key()), bytes);

    expect(errorOf(answer)).toBe('400 invalid_field_value data');
    expect(JSON.stringify(answer.body)).toContain(reason);
  });

  test('one of a MiB is taken, although other bodies are shorter', async () => {
    const bytes = Buffer.concat([png(3, 2), randomBytes(2 ** 20)]).subarray(0, 2 ** 20);
    const client = ground.api(ground.key());

    const { url } = await uploaded(client, bytes);

    const digest = (content: Buffer) => createHash('sha256').update(content).digest('hex');
    expect(digest((await shown(url)).bytes)).toBe(digest(bytes));
    expect(errorOf(await client.post(LINKS, { ...LINK, description: 'x'.repeat(300_000) }))).toBe(
      '400 invalid_field_value',
    );
  });

  test('need the permission to write, and are recorded', async () => {
    const secret = ground.key();
    const admin = ground.api(secret);
    const draft = { name: 'Reads', permission: 'read' };
    const reader = ground.api(text(record((await admin.post('/api/v1/api-keys', draft)).body).key));

    expect(errorOf(await upload(reader, png(3, 2)))).toBe('403 insufficient_permissions');
    const { id } = await uploaded(admin);
    await admin.delete(`${IMAGES}/${id}`);
    const { body } = await admin.get(`/api/v1/audit-events?resource_id=${id}`);
    expect(JSON.stringify(body)).toContain('"image.create"');
    expect(JSON.stringify(body)).toContain('"image.delete"');
  });

  test('are logos and pictures of links and items, which pages load from their own host', async () => {
    const client = ground.api(ground.key());
    const images = [await uploaded(client, png(1, 1)), await uploaded(client, png(1, 2))];
    const [logo, item] = images.map(({ url }) => url);
    const of = { name: 'Notebook', amount: '7', quantity: 1, image_url: item };
    const body = { ...LINK, image_url: logo, items: [of], branding: { logo_url: item } };

    expect((await client.patch('/api/v1/organization', { logo_url: logo })).status).toBe(200);
    const made = await client.post(LINKS, body);
    const page = await (await fetch(text(record(made.body).url))).text();

    expect(made.body).toMatchObject({ image_url: logo, branding: { logo_url: item } });
    for (const { id } of images) {
      expect(page).toContain(`src="/pay/images/${id}"`);
      expect(errorOf(await client.delete(`${IMAGES}/${id}`))).toBe('400 invalid_status_transition');
    }
    await client.patch('/api/v1/organization', { logo_url: null });
    await client.delete(`${LINKS}/${text(record(made.body).id)}`);
    for (const { id } of images) expect((await client.delete(`${IMAGES}/${id}`)).status).toBe(200);
  });

  test('of another organization or mode, and addresses without https, are no pictures', async () => {
    const [ours, theirs] = [ground.api(ground.key()), ground.api(ground.key())];
    const { url } = await uploaded(theirs);

    expect(errorOf(await ours.post(LINKS, { ...LINK, image_url: url }))).toBe(
      '400 invalid_field_value image_url',
    );
    expect(errorOf(await ours.patch('/api/v1/organization', { logo_url: url }))).toBe(
      '400 invalid_field_value logo_url',
    );
    expect(errorOf(await ours.patch('/api/v1/organization', { logo_url: 'http://a.example/b.png' }))).toBe(
      '400 invalid_field_value logo_url',
    );
    expect(errorOf(await ours.delete(`${IMAGES}/${url.slice(-28)}`))).toBe('404 resource_not_found');
  });
});
