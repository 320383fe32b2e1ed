/**
 * Makes the pictures of the README: `npm run pictures`. Content, ids and time are the same in every run, so a picture
 * changes only with its page or the fonts of the machine.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { seedRandomBytes } from './examples/seeded-random.ts';
import { launchBrowser } from './pages/browser.ts';
import { SHOWN_AT, type ShownPage, startShownServices } from './pages/shown-services.ts';

const FOLDER = join(import.meta.dirname, '..', 'docs', 'pictures');
const WINDOW = { width: 1120, height: 760 };

seedRandomBytes();
await using services = await startShownServices();
const browser = await launchBrowser();
try {
  const context = await services.signedIn(browser, { viewport: WINDOW, timezoneId: 'UTC', locale: 'en-GB' });
  await context.clock.setFixedTime(SHOWN_AT);
  await mkdir(FOLDER, { recursive: true });
  const pages = [...services.explorer, ...services.dashboard, ...services.checkout];
  const pictures = { home: 'home', transaction: 'transaction', dashboard: 'dashboard', checkout: 'pay-page' };
  for (const [name, file] of Object.entries(pictures)) await take(pageNamed(pages, name), file);

  async function take({ url }: ShownPage, file: string): Promise<void> {
    const page = await context.newPage();
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
