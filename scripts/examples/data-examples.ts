import type { Contract } from '#contract/contracts/contract.ts';
import { child, type Json, type JsonObject } from '#contract/contracts/document.ts';
import { explorerContract } from '#contract/contracts/explorer.ts';
import { insightsContract } from '#contract/contracts/insights.ts';
import type { OperationRow } from '#contract/contracts/operations.ts';
import { exampleTarget } from '#contract/description/code-samples.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { isObject } from '#lib/json.ts';
import { startTestDataService } from '../../test/lab/data-service.ts';
import { TEST_END_TIME, type TestDevnet } from '../../test/lab/devnet.ts';
import { operationsIn } from '../contract/payments/operation.ts';
import { type RecordedExamples, shortened } from './recorded.ts';

const UNLIMITED = 10_000_000;
/** Clock fixed just after the last block, so that responses about today are the same in every run. */
const RECORDING_CLOCK: Clock = { ...systemClock, now: () => TEST_END_TIME + 30_000 };

/** Examples of one contract by operationId. */
type ContractExamples = ReadonlyMap<string, RecordedExamples>;

/** Records responses of the data service to the example requests, by contract. */
export async function recordData(devnet: TestDevnet): Promise<ReadonlyMap<string, ContractExamples>> {
  await using service = await startTestDataService(devnet.chains, {
    clock: RECORDING_CLOCK,
    rateLimitPerMinute: UNLIMITED,
  });
  const recorded = new Map<string, ContractExamples>();
  for (const contract of [explorerContract, insightsContract]) {
    recorded.set(contract.name, await recordContract<unknown>(contract, service.url));
  }
  return recorded;
}

async function recordContract<Operations>(
  contract: Contract<Operations>,
  url: string,
): Promise<ContractExamples> {
  const recorded = new Map<string, RecordedExamples>();
  // Embedded chains have neither withdrawals nor coin prices. The contract contains those examples itself.
  const recordedHere = operationsIn(contract).filter(({ row }) => !showsAnswer(contract.document, row));
  for (const operation of recordedHere) {
    const target = exampleTarget(operation);
    const response = await fetch(url + target);
    const text = await response.text();
    if (response.status !== 200)
      throw new Error(`${operation.id}: GET ${target} → ${response.status} ${text}`);
    recorded.set(operation.id, { 200: shortened(exactly(text)) });
  }
  return recorded;
}

/** Parses JSON text. @throws Error when a number would be serialized differently */
function exactly(text: string): Json {
  const value: Json = JSON.parse(text);
  if (JSON.stringify(value) !== text) throw new Error(`a number is lost in ${text}`);
  return value;
}

function showsAnswer(document: JsonObject, { path, method }: OperationRow): boolean {
  const responses = child(child(child(child(document, 'paths'), path), method), 'responses');
  const media = Object.values(child(child(responses, '200'), 'content'));
  return media.some(one => isObject(one) && one.example !== undefined);
}
