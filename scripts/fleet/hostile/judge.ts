import { setTimeout as delay } from 'node:timers/promises';
import type { PaymentsSchemas } from '../../../src/contract/contracts/payments.ts';
import { untilSettled } from '../shops/books.ts';
import { demand } from '../shops/demand.ts';
import { untilPaid } from '../shops/sales.ts';
import { reckon } from '../shops/verify.ts';
import { comparePayments, type Sold } from '../verdict.ts';
import type { Judged } from './index-judge.ts';
import type { Stage } from './stage.ts';

const PAID_WITHIN_MS = 60_000;
const DELIVERED_WITHIN_MS = 30_000;
const LISTED_WITHIN_MS = 60_000;
const PAUSE_MS = 500;
/** Of a process with all roles, which reads receipts of 60 MiB for settlement and index, and serves them too. */
const MAX_BYTES = 2 ** 30;

/** Waits until all sales are settled and delivered, and compares payments and events with them. */
export async function comparePaid(
  { observers: { violation }, receivers, observers }: Stage,
  sold: readonly Sold[],
): Promise<void> {
  const paidMs = await untilPaid(sold, PAID_WITHIN_MS);
  if (paidMs >= PAID_WITHIN_MS) violation('payments were not completed in time');
  await untilSettled(
    sold.map(({ shop }) => shop),
    DELIVERED_WITHIN_MS,
  );
  for (const one of sold) await comparePayments(one, observers);
  for (const sentence of (await reckon(sold, receivers.arrivals)).violations) violation(sentence);
}

/** Waits until the shop sees all dust that it received, each transfer once. */
export async function judgeDust({ scene: { shop }, traces, observers }: Judged): Promise<void> {
  const path = '/api/v1/unmatched-transfers?limit=1';
  let listed = 0;
  for (const deadline = Date.now() + LISTED_WITHIN_MS; Date.now() < deadline; await delay(PAUSE_MS)) {
    listed = (await demand<PaymentsSchemas['UnmatchedTransferList']>(shop.client, { path })).total_count;
    if (listed >= traces.unmatched) break;
  }
  if (listed === traces.unmatched) return;
  observers.violation(`${listed} unmatched transfers are listed of ${traces.unmatched}`);
}

/** Payments that cannot be read wait: the merchant sees each, and none has failed or completed. */
export async function judgeUnreadable({ scene, traces, observers }: Judged): Promise<void> {
  const path = '/api/v1/transactions?limit=100';
  const { client } = scene.unluckyShop;
  const { data } = await demand<PaymentsSchemas['PaymentTransactionList']>(client, { path });
  for (const { transactionHash: hash } of traces.unreadable) {
    const status = data.find(one => one.tx_hash === hash)?.status;
    if (status !== 'confirming')
      observers.violation(`the payment by ${hash}, which nobody can read, is ${status}`);
  }
}

/** Judges the largest memory of each process so far. Returns a line for the report. */
export async function judgeMemory(stages: readonly Stage[]): Promise<string> {
  const told: string[] = [];
  for (const { name, member, observers } of stages) {
    if (!member.isReady()) {
      observers.violation(`the process of the ${name} chain has ended`);
      continue;
    }
    const bytes = await member.mostMemory();
    if (bytes > MAX_BYTES) observers.violation(`the memory of ${name} rose to ${mebibytes(bytes)}`);
    told.push(`${name} ${mebibytes(bytes)}`);
  }
  return `memory of a process at most: ${told.join(', ')}`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed()} MiB`;
}
