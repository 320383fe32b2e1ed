import { child } from '#contract/contracts/document.ts';
import { isObject } from '#lib/json.ts';
import type { RecordingClient } from '../client.ts';
import { parsed } from '../judge.ts';

/** True when the payments platform responds, according to its description. */
export async function isPaymentsService(client: RecordingClient): Promise<boolean> {
  const { text } = await client.send('GET', '/openapi.json');
  const description = parsed(text)?.value;
  return isObject(description) && '/api/v1/payment-links' in child(description, 'paths');
}
