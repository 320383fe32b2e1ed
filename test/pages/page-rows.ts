import type { Page } from 'playwright-core';

/** Texts of the rows of a list, once they have appeared. */
export async function rowsOf(page: Page, list: string): Promise<string[]> {
  const rows = page.getByRole('region', { name: list }).locator('tbody tr');
  await rows.first().waitFor();
  return rows.allInnerTexts();
}
