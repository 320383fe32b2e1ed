/**
 * Creates the screenshots of the README: `npm run pictures`. Content, ids and time are the same in every run, so a
 * picture changes only with its page or the machine's fonts.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { launchBrowser } from '../test/lab/chromium.ts';
import { seedRandomBytes } from './examples/seeded-random.ts';
import { SHOWN_AT, type ShownPage, startShownServices } from './examples/shown-services.ts';

const FOLDER = join(import.meta.dirname, '..', 'docs', 'pictures');
const WIDTH = 1120;
/** Pages shown in the README, with file name and height in CSS pixels. */
const PICTURES = [
  { page: 'home', file: 'home', height: 980 },
  { page: 'transaction', file: 'transaction', height: 760 },
  { page: 'dashboard', file: 'dashboard', height: 760 },
  { page: 'checkout', file: 'pay-page', height: 900 },
] as const;
/** Replaces the merchant's logo, which is on another host. */
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path fill="#0a7c66" d="M0 0h8v8H0z"/></svg>';

seedRandomBytes();
await using services = await startShownServices();
const browser = await launchBrowser();
try {
  const context = await services.signedIn(browser, { timezoneId: 'UTC', locale: 'en-GB' });
  await context.clock.setFixedTime(SHOWN_AT);
  await mkdir(FOLDER, { recursive: true });
  const pages = [...services.explorer, ...services.dashboard, ...services.checkout];
  await context.route('https://books.example/**', route =>
    route.fulfill({ contentType: 'image/svg+xml', body: LOGO }),
  );
  for (const { page, file, height } of PICTURES) await take(pageNamed(pages, page), { file, height });

  async function take({ url }: ShownPage, { file, height }: { file: string; height: number }): Promise<void> {
    const page = await context.newPage();
    await page.setViewportSize({ width: WIDTH, height });
    await page.goto(url);
    await page.locator('main').waitFor();
    await page.waitForFunction(() => document.querySelector('.loading') === null);
    await page.screenshot({ path: join(FOLDER, `${file}.png`), animations: 'disabled', caret: 'hide' });
    await page.close();
  }
} finally {
  await browser.close();
}

function pageNamed(pages: readonly ShownPage[], name: string): ShownPage {
  const page = pages.find(one => one.name === name);
  if (page === undefined) throw new Error(`There is no page ${name}.`);
  return page;
}
