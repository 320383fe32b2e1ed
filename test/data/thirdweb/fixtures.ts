import { readdirSync, readFileSync } from 'node:fs';
import { insightsContract } from '#contract/contracts/insights.ts';
import { named, violations } from '../../lab/fixture-bodies.ts';
import { record, text } from '../../lab/json.ts';

const ROOT = new URL('../../fixtures/insight/', import.meta.url);

/** One answer of one generation of the Insight API. */
export interface ThirdwebFixture {
  /** The file without `.json`, for example `2025-07` or `2025-10-old-block`. */
  readonly name: string;
  /** Generation of the contract, for example `2025-07`. */
  readonly generation: string;
  /** Path below the base address, with its query. Ours has the same names. */
  readonly path: string;
  /** The body as sent on the wire. */
  readonly text: string;
}

/** Operations that have fixtures. */
export const OPERATIONS = readdirSync(ROOT).sort();

/** Fixtures of an operation, oldest generation first. Throws if `source.json` does not describe one of them. */
export function fixturesOf(operation: string): ThirdwebFixture[] {
  const folder = new URL(`${operation}/`, ROOT);
  const described = record(JSON.parse(readFileSync(new URL('source.json', folder), 'utf8')));
  return readdirSync(folder)
    .filter(file => file.endsWith('.json') && file !== 'source.json')
    .sort()
    .map(file => {
      const { version, path, source } = record(described[file]);
      if (text(path) === '' || text(source) === '') throw new Error(`${operation}/${file} has no source`);
      return {
        name: file.slice(0, -'.json'.length),
        generation: text(version),
        path: text(path),
        text: readFileSync(new URL(file, folder), 'utf8'),
      };
    });
}

/** The fixture with that name. Throws when it does not exist. */
export function fixtureOf(operation: string, name: string): ThirdwebFixture {
  return named(fixturesOf(operation), name);
}

/** Contract violations of a body as the operation's 200, one per line; `[]` when it is valid. */
export function violationsOf(operation: string, body: unknown): Promise<string[]> {
  return violations(insightsContract.document, operation, body);
}
