import { describe, expect, test } from 'vitest';
import { dataServiceContract } from '../../../src/contract/contracts/data-service.ts';
import { explorerContract } from '../../../src/contract/contracts/explorer.ts';
import type { OperationId } from '../../../src/data/backends/port/backend.ts';
import { readCsv } from '../../support/csv.ts';
import { listCases } from '../cases.ts';
import { walkList } from '../list-walk.ts';
import type { Bench } from './bench.ts';

/** The CSV of a list has a row for each record of its pages, in their order. */
export function exportsAreWhole(bench: () => Bench): void {
  describe('exports', () => {
    test('each list is exported whole', async () => {
      const { api, subject, isMissing } = bench();
      const exported = new Set<string>();
      for (const one of listCases(subject.places)) {
        const { operation, path, query = {} } = one;
        if (isMissing(one) || !isExported(operation)) continue;
        const { items } = await walkList(api, one, 'cursor');
        const parameters = new URLSearchParams({ ...query, ...valuesIn(operation, path) });
        const { status, body } = await api.get(`/explorer/export/${operation}?${parameters}`);
        expect(status, operation).toBe(200);
        expect(readCsv(body).rows.length, operation).toBe(items.length);
        exported.add(operation);
      }
      expect(exported.size).toBeGreaterThan(15);
    });
  });
}

function isExported(operation: string): boolean {
  const [list] = dataServiceContract.table.exportList.parameters;
  const validate = dataServiceContract.parameters[list?.check ?? ''];
  return validate?.(operation) === true;
}

/** Values of the parameters in a path of an operation. */
function valuesIn(operation: OperationId, path: string): Record<string, string> {
  const names = explorerContract.table[operation].path.split('/');
  const values = path.split('/');
  return Object.fromEntries(
    names.flatMap((name, place) => (name.startsWith('{') ? [[name.slice(1, -1), values[place] ?? '']] : [])),
  );
}
