import type { BrowserContext } from 'playwright-core';
import { launchBrowser } from '../../test/lab/chromium.ts';
import { type ShownPage, startShownServices } from '../examples/shown-services.ts';
import { type Figure, figureOf } from './figure.ts';

const ROUNDS = 3;
/** Bound of all bytes in the first load of a page, as transferred. */
const MAX_KB = 150;
/** Bound of the time of all scripts in a first load, including their compilation. */
const MAX_SCRIPT_MS = 300;
const SETTLE_MS = 500;

interface Load {
  readonly kilobytes: number;
  readonly scriptMs: number;
}

/** First load of every page in a browser with an empty cache: bytes and script time, each the median of three. */
export async function benchPages(): Promise<Figure[]> {
  await using services = await startShownServices();
  const browser = await launchBrowser();
  try {
    const anonymous = () => browser.newContext();
    const figures: Figure[] = [];
    for (const page of [...services.explorer, ...services.checkout]) {
      figures.push(...(await figuresOf(page, anonymous)));
    }
    for (const page of services.dashboard) {
      figures.push(...(await figuresOf(page, () => services.signedIn(browser))));
    }
    return figures;
  } finally {
    await browser.close();
  }
}

async function figuresOf(
  { name, url }: ShownPage,
  context: () => Promise<BrowserContext>,
): Promise<Figure[]> {
  const loads: Load[] = [];
  for (let round = 0; round < ROUNDS; round++) loads.push(await firstLoad(await context(), url));
  return [
    figureOf({
      name: `first load of ${name}, kB`,
      rounds: loads.map(({ kilobytes }) => kilobytes),
      wanted: { atMost: MAX_KB },
    }),
    figureOf({
      name: `scripts of ${name}, ms`,
      rounds: loads.map(({ scriptMs }) => scriptMs),
      wanted: { atMost: MAX_SCRIPT_MS },
    }),
  ];
}

/** Loads a page in a new context, and closes the context. */
async function firstLoad(context: BrowserContext, url: string): Promise<Load> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await session.send('Network.enable');
  await session.send('Performance.enable');
  const answer = await page.goto(url);
  if (answer?.status() !== 200) throw new Error(`${url} answered ${answer?.status()}`);
  await page.waitForFunction(
    () => document.querySelector('main') !== null && document.querySelector('.loading') === null,
  );
  await page.waitForTimeout(SETTLE_MS);
  const { metrics } = await session.send('Performance.getMetrics');
  const seconds = metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? Number.NaN;
  await context.close();
  return { kilobytes: bytes / 1000, scriptMs: seconds * 1000 };
}
