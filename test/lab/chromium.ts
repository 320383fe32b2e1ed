import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Usual paths of Chromium; playwright-core ships none. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Starts the installed Chromium in headless mode, with these arguments. @throws Error when there is none */
export async function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  const executablePath = PLACES.find(path => existsSync(path));
  if (executablePath === undefined) throw new Error(`This needs Chromium in one of ${PLACES.join(', ')}.`);
  // Its sandbox refuses to run as root. It opens only our own pages.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage', ...args] });
}
