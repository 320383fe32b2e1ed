import { expect } from 'vitest';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { test } from './data-page.ts';
import { rowsOf } from './page-rows.ts';

/** Path of the page of a sample token, by its listed name. */
function tokenPath({ id, contracts }: EmbeddedChain, name: string): string {
  const contract = contracts.find(one => one.name === name);
  if (contract === undefined) throw new Error(`the devnet has no ${name}`);
  return `/chain/${id}/token/${contract.address}`;
}

test('a token’s page shows its supply and price, and links to its transfers and holders', async ({
  chain,
  page,
  complaints,
}) => {
  await page.goto(tokenPath(chain, 'Community Token'));
  await page.getByRole('heading', { name: 'Community Token' }).waitFor();

  expect(await page.locator('.facts').first().innerText()).toMatch(/Total supply\s+[\d,.]+ TOLL/);
  await page.getByRole('heading', { name: 'Market' }).waitFor();
  await page.getByRole('link', { name: 'Holders' }).click();
  const holders = await rowsOf(page, 'Holders of the token');
  expect(holders[0]).toMatch(/TOLL\s+[\d.]+ %/);
  expect(new URL(page.url()).search).toBe('?tab=holders');
  expect(complaints).toEqual([]);
});

test('the transfers of a token page by cursor, forwards and back', async ({ chain, page, complaints }) => {
  const hashes = async () => (await rowsOf(page, 'Transfers of the token')).map(row => row.split('\t')[0]);
  await page.goto(tokenPath(chain, 'US Dollar Sample'));
  const pager = page.getByRole('navigation', { name: 'Pages of Transfers of the token' });
  const first = await hashes();

  await pager.getByRole('button', { name: 'Next' }).click();
  await expect.poll(hashes).not.toEqual(first);
  const second = await hashes();
  await pager.getByRole('button', { name: 'Previous' }).click();

  await expect.poll(hashes).toEqual(first);
  expect(first).toHaveLength(50);
  expect(second.filter(hash => first.includes(hash))).toEqual([]);
  expect(complaints).toEqual([]);
});

test('a collection shows its NFTs, each with a link to its metadata and owner', async ({
  chain,
  page,
  complaints,
}) => {
  await page.goto(`${tokenPath(chain, 'Postcards')}?tab=instances`);
  const gallery = page.getByRole('list', { name: 'NFTs of the collection' });
  await gallery
    .getByRole('link', { name: /^Postcard #\d+/ })
    .first()
    .click();
  await page.getByRole('heading', { name: /^Postcard #\d+$/ }).waitFor();

  expect(page.url()).toMatch(/\/instance\/\d+$/);
  const picture = page.getByRole('img', { name: /^Picture of Postcard/ });
  const width = () => picture.evaluate(image => (image instanceof HTMLImageElement ? image.naturalWidth : 0));
  await expect.poll(width).toBeGreaterThan(0);
  expect(await page.locator('.attributes').innerText()).toContain('Palette');
  expect(await page.locator('.facts').innerText()).toMatch(/Owner\s+0x/);
  expect(await rowsOf(page, 'Transfers of the NFT')).not.toHaveLength(0);
  expect(complaints).toEqual([]);
});

test('an unavailable picture is replaced by the NFT’s id', async ({ chain, page }) => {
  await page.route('**/picture', route => route.fulfill({ status: 415 }));

  await page.goto(`${tokenPath(chain, 'Postcards')}/instance/1`);
  await page.locator('.picture.none').waitFor();

  expect(await page.locator('.picture.none').innerText()).toBe('#1');
  expect(await page.getByRole('img', { name: /^Picture of/ }).count()).toBe(0);
});

test('an NFT with several copies lists its holders', async ({ chain, page }) => {
  await page.goto(`${tokenPath(chain, 'Game Items')}?tab=instances`);
  await page
    .getByRole('link', { name: /^Item \d+/ })
    .first()
    .click();
  await page.getByRole('link', { name: 'Holders' }).click();

  expect((await rowsOf(page, 'Holders of the NFT'))[0]).toMatch(/\d+ ITEM$/);
});

test('an address that is not a token, and an invalid one, have a message without a retry button', async ({
  chain,
  page,
}) => {
  await page.goto(`/chain/${chain.id}/token/0x00000000000000000000000000000000000000AA`);
  await page.getByText('There is no token at this address').waitFor();
  await page.getByRole('link', { name: 'See the address itself' }).waitFor();

  await page.goto(`/chain/${chain.id}/token/0x12`);
  await page.getByText('An address is 0x followed by 40 hexadecimal digits').waitFor();
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);

  await page.goto(`${tokenPath(chain, 'Postcards')}/instance/seven`);
  await page.getByText('A token ID is a whole number').waitFor();
});
