import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Where Debian and others put it; playwright-core brings none of its own. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Starts the machine's own Chromium, without a window. @throws Error when there is none. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = PLACES.find(path => existsSync(path));
  if (executablePath === undefined) throw new Error(`This needs Chromium in one of ${PLACES.join(', ')}.`);
  // Its sandbox refuses to run as root; what it opens is our own pages only.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
