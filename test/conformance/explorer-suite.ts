import { afterAll, beforeAll, describe } from 'vitest';
import { type Answer, type Client, client } from '../support/contract-client.ts';
import { type Case, headOf, tokenHeld } from './cases.ts';
import type { Limits } from './limits.ts';
import type { Bench, Subject } from './suite/bench.ts';
import { answersAreEqual } from './suite/equality.ts';
import { errorsAreErrors } from './suite/errors.ts';
import { exportsAreWhole } from './suite/exports.ts';
import { headersTellTheTruth } from './suite/headers.ts';
import { listsAreWhole } from './suite/lists.ts';
import { requestsAreModest } from './suite/requests.ts';

/**
 * Guarantees of every explorer back end over HTTP, with every answer checked against the contract and against an
 * index of the same chain. `limits` are the things that the back end cannot know.
 */
export function explorerConformance(name: string, start: () => Promise<Subject>, limits: Limits): void {
  describe(name, () => {
    let running: Omit<Bench, 'limits' | 'isMissing' | 'inSharedOrder'> | undefined;
    const bench = (): Bench => {
      if (running === undefined) throw new Error(`${name} was not started`);
      return {
        ...running,
        limits,
        isMissing: ({ operation }: Pick<Case, 'operation'>) => limits.missing.includes(operation),
        inSharedOrder: (items, { operation }) =>
          limits.inOrderOfReading.includes(operation)
            ? items.toSorted((one, other) => tokenHeld(one).localeCompare(tokenHeld(other)))
            : items,
      };
    };

    beforeAll(async () => {
      const subject = await start();
      const reference = remembering(client(subject.referenceUrl), subject.referenceUrl);
      running = { subject, api: client(subject.url), reference, head: await headOf(reference) };
    });
    afterAll(() => running?.subject[Symbol.asyncDispose]());

    answersAreEqual(bench, limits);
    listsAreWhole(bench);
    exportsAreWhole(bench);
    errorsAreErrors(bench);
    headersTellTheTruth(bench);
    requestsAreModest(bench);
  });
}

const answers = new Map<string, Promise<Answer>>();

/** Caches the reference's answers: its chain does not grow, and every back end is compared with it. */
function remembering(reference: Client, url: string): Client {
  return {
    get(path) {
      const answer = answers.get(url + path) ?? reference.get(path);
      answers.set(url + path, answer);
      return answer;
    },
  };
}
