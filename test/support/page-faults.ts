import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';
import { PATIENCE_MS } from '../lab/until.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SCHEMES = ['light', 'dark'] as const;
/** Window widths in CSS pixels: a phone and a desk. */
const WIDTHS = [390, 1280] as const;
/** Widths and schemes that axe-core checks, which takes most of the time. */
const AUDITS = WIDTHS.flatMap(width => SCHEMES.map(scheme => `${width} ${scheme}`));

/** Allowances for a page that would otherwise be faults. */
interface Expected {
  /** Statuses of 400 and more among its requests. */
  readonly statuses: readonly number[];
  /** Other hosts that it contacts. */
  readonly hosts: readonly string[];
  /** A text that it must show. */
  readonly text: string;
  /** False skips axe-core. */
  readonly isAudited: boolean;
}

/** A finding of axe-core. */
interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly unknown[] }[];
}

/**
 * Faults of a page at two widths and in two colour schemes (in all four pairs in `npm run test:all`): script errors, failed requests, requests to other hosts,
 * findings of axe-core, content wider than the window, text with marks that change its direction, and text that ran as
 * a script. `statuses` and `hosts` are
 * expected, and the page must show `text`.
 */
export async function faultsOf(
  context: BrowserContext,
  url: string,
  { statuses = [], hosts = [], text = '', isAudited = true }: Partial<Expected> = {},
): Promise<string[]> {
  const faults: string[] = [];
  for (const width of WIDTHS) {
    const page = await context.newPage();
    await page.setViewportSize({ width, height: 900 });
    const expected = { statuses, hosts: [...hosts, new URL(url).host] };
    let isChecked = false;
    watch(page, expected, fault => {
      // In a shadow tree axe-core tries inline styles, which the policy refuses.
      if (!isChecked) faults.push(`${width} px: ${fault}`);
    });
    await page.goto(url);
    const isShown = await shown(page).then(
      () => true,
      () => false,
    );
    if (!isShown) {
      faults.push(`${width} px: nothing is shown`);
      await page.close();
      continue;
    }
    const content = (await page.locator('main').textContent()) ?? '';
    if (!content.includes(text)) faults.push(`${width} px: it does not show what it should`);
    isChecked = true;
    faults.push(...(await looksOf(page, { width, isAudited })));
    for (const marked of await page.evaluate(textsWithMarks))
      faults.push(`${width} px: text changes direction: ${marked}`);
    // The effect of hostile test texts when they run.
    if (await page.evaluate(() => 'ran' in window)) faults.push(`${width} px: a text ran as a script`);
    await page.close();
  }
  return faults;
}

/** Targets of a page that are smaller or closer than WCAG 2.2 asks (2.5.8), as axe-core finds them. */
export async function smallTargetsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found: readonly Violation[] = await page.evaluate(
    `axe.run({ runOnly: { type: 'tag', values: ['wcag22aa'] } }).then(({ violations }) => violations)`,
  );
  return found.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}

/** Findings of axe-core and of the width on a page as it is now, for example with an open dialog, at both widths. */
export async function auditOf(page: Page): Promise<string[]> {
  const size = page.viewportSize() ?? { width: WIDTHS[1], height: 720 };
  const faults: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ ...size, width });
    faults.push(...(await looksOf(page, { width, isAudited: true })));
  }
  await page.setViewportSize(size);
  return faults;
}

async function looksOf(
  page: Page,
  { width, isAudited }: Pick<Expected, 'isAudited'> & { readonly width: number },
): Promise<string[]> {
  const faults: string[] = [];
  if (isAudited) await page.evaluate(AXE);
  const schemes = SCHEMES.filter(scheme => AUDITS.includes(`${width} ${scheme}`));
  for (const colorScheme of isAudited ? schemes : []) {
    await page.emulateMedia({ colorScheme });
    for (const fault of await violations(page, colorScheme)) {
      faults.push(`${width} px, ${colorScheme}: ${fault}`);
    }
  }
  await page.emulateMedia({ colorScheme: null });
  const contentWidth = await page.evaluate(() => document.documentElement.scrollWidth);
  if (contentWidth > width) faults.push(`${width} px: the content is ${contentWidth} px wide`);
  return faults;
}

/** Texts and attributes of the page that contain a mark which changes the direction of text. Runs in the browser. */
function textsWithMarks(): string[] {
  const marks = /[\u061c\u200e\u200f\u202a-\u202e\u2066\u2067]/;
  const texts = [document.title, document.body.textContent ?? ''];
  for (const element of document.querySelectorAll('[title], [alt], [aria-label]'))
    for (const name of ['title', 'alt', 'aria-label']) texts.push(element.getAttribute(name) ?? '');
  return texts
    .filter(text => marks.test(text))
    .map(text => text.slice(Math.max(0, text.search(marks) - 40)).slice(0, 80));
}

/** Waits until a page has shown its loaded data. */
async function shown(page: Page): Promise<void> {
  await page.waitForFunction(
    () => document.querySelector('main') !== null && document.querySelector('.loading') === null,
    undefined,
    { timeout: PATIENCE_MS },
  );
}

function watch(
  page: Page,
  { statuses, hosts }: Pick<Expected, 'statuses' | 'hosts'>,
  tell: (fault: string) => void,
): void {
  page.on('pageerror', error => tell(error.message));
  page.on('console', message => {
    const isOfAnswer = message.text().startsWith('Failed to load resource');
    if (['error', 'warning'].includes(message.type()) && !isOfAnswer) tell(message.text());
  });
  page.on('request', request => {
    const target = new URL(request.url());
    if (target.protocol.startsWith('http') && !hosts.includes(target.host)) tell(`asks ${target.host}`);
  });
  page.on('response', response => {
    if (response.status() >= 400 && !statuses.includes(response.status())) {
      tell(`${response.status()} for ${new URL(response.url()).pathname}`);
    }
  });
}

/** The second scheme changes only colours, so only their rules are checked. */
const RULES: Readonly<Record<(typeof SCHEMES)[number], object>> = {
  light: {},
  dark: { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } },
};

async function violations(page: Page, scheme: (typeof SCHEMES)[number]): Promise<string[]> {
  const options = JSON.stringify({ ...RULES[scheme], resultTypes: ['violations'] });
  const found: readonly Violation[] = await page.evaluate(
    `axe.run(${options}).then(({ violations }) => violations)`,
  );
  return found.map(
    ({ id, help, nodes }) => `${id} (${help}): ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
  );
}
