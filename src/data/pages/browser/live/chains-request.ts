import type { components } from '#generated/data-service/types.ts';
import { type Answer, answerOf } from '#pages/browser/answer.ts';

export type Chains = components['schemas']['Chains'];

/** Requests the configured chains with their state. */
export function askChains(signal: AbortSignal): Promise<Answer<Chains>> {
  return answerOf(
    fetch('/chains', { signal }).then(async response =>
      response.ok ? { data: await response.json(), response } : { error: await bodyOf(response), response },
    ),
  );
}

/** Body of a refusal, which a proxy may send as something other than JSON. */
function bodyOf(response: Response): Promise<unknown> {
  return response.json().catch(() => undefined);
}

/** The newer answer, with the same objects for chains that have not changed, so that what shows them stays. */
export function sharing(newer: Answer<Chains>, older: Answer<Chains> | undefined): Answer<Chains> {
  const before = new Map(older?.data.chains.map(chain => [chain.id, chain]));
  const chains = newer.data.chains.map(chain => {
    const known = before.get(chain.id);
    return known !== undefined && JSON.stringify(known) === JSON.stringify(chain) ? known : chain;
  });
  return { ...newer, data: { chains } };
}
