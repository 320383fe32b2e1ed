import { child } from '#contract/contracts/document.ts';
import { isObject } from '#lib/json.ts';
import type { RecordingClient } from '../client.ts';
import { parsed } from '../judge.ts';

/** Whether it is the payments platform that answers, by the description that it serves. */
export async function isPaymentsService(client: RecordingClient): Promise<boolean> {
  const { text } = await client.send('GET', '/openapi.json');
  const description = parsed(text)?.value;
  return isObject(description) && '/api/v1/payment-links' in child(description, 'paths');
}
