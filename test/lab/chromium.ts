import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { PATIENCE_MS } from './until.ts';

/** Usual paths of Chromium; playwright-core ships none. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/**
 * Starts the installed Chromium in headless mode, with these arguments. Its pages wait as long as tests do, instead of
 * playwright's 30 seconds. @throws Error when there is none
 */
export async function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  const executablePath = PLACES.find(path => existsSync(path));
  if (executablePath === undefined) throw new Error(`This needs Chromium in one of ${PLACES.join(', ')}.`);
  // Its sandbox refuses to run as root. It opens only our own pages.
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...args],
  });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async options => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
  return browser;
}
