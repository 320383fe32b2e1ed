import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { pictureService } from '../data/pictures/picture-service.ts';
import { requestsOf, test } from '../support/browser.ts';

/** Path of a picture, by the id of the NFT. */
const pictureOf = (id: number) =>
  `/chain/1/token/0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9/instance/${id}/picture`;
const svg = (content: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30" onload="location='/ran'">${content}</svg>`;
const DRAWINGS: readonly string[] = [
  svg('<rect width="40" height="30" fill="red"/>'),
  svg(`<script>location = '/ran'</script><image href="/asked.png" width="9" height="9"/>
    <style>rect { fill: url(/asked.svg#a) }</style><rect width="9" height="9"/>
    <foreignObject width="9" height="9"><iframe xmlns="http://www.w3.org/1999/xhtml" src="/asked"/></foreignObject>`),
];

/** Paths that a page receives while it does something. Requests that a policy refuses are not among them. */
async function received(page: Page, act: () => Promise<unknown>): Promise<string[]> {
  const requests = requestsOf(page);
  const paths: string[] = [];
  page.on('response', response => paths.push(new URL(response.url()).pathname));
  await act();
  await requests.ended();
  return [...paths];
}

test('a drawing is shown on a page, and neither runs a script nor loads a file', async ({ browser }) => {
  await using service = await pictureService(
    id => ({ image_url: `data:image/svg+xml;utf8,${encodeURIComponent(DRAWINGS[Number(id)] ?? '')}` }),
    () => ({ status: 404, text: '' }),
  );
  const page = await browser.newPage();
  const ofPage = await received(page, () =>
    Promise.all([page.waitForResponse(/insights/), page.goto(`${service.url}/playground`)]),
  );

  const paths = await received(page, () =>
    page.evaluate(
      async urls => {
        for (const src of urls) {
          const image = Object.assign(new Image(), { src });
          document.body.append(image);
          await image.decode();
        }
      },
      [pictureOf(0), pictureOf(1)],
    ),
  );

  const sizes = await page.evaluate(() =>
    [...document.querySelectorAll('img')].map(({ naturalWidth, naturalHeight }) => [
      naturalWidth,
      naturalHeight,
    ]),
  );
  expect(sizes).toEqual([
    [40, 30],
    [40, 30],
  ]);
  // The page itself goes on asking for what it shows.
  expect(paths.filter(path => !ofPage.includes(path))).toEqual([pictureOf(0), pictureOf(1)]);
  expect(new URL(page.url()).pathname).toBe('/playground');
  await page.close();
});

test('a drawing that is opened directly runs nothing and loads nothing', async ({ browser }) => {
  await using service = await pictureService(
    id => ({ image_url: `data:image/svg+xml;utf8,${encodeURIComponent(DRAWINGS[Number(id)] ?? '')}` }),
    () => ({ status: 404, text: '' }),
  );
  const page = await browser.newPage();

  const paths = await received(page, () => page.goto(`${service.url}${pictureOf(1)}`));

  expect(paths.filter(path => path !== '/favicon.ico')).toEqual([pictureOf(1)]);
  expect(new URL(page.url()).pathname).toBe(pictureOf(1));
  await page.close();
});
