import type { components } from '#generated/payments/types.ts';
import { answerOf } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { asProblem, Problem } from '#pages/browser/problem.ts';
import { payerApi } from '../api.ts';
import { dataOf, showOver } from '../page-data.ts';
import { LinkCheckout, type LinkData } from './link-checkout.ts';
import { paramOf, type Typed } from './payer-fields.ts';

const data = dataOf<LinkData>(document);
showOver(h(LinkCheckout, { data, typedBefore: typedIn(document), onStart: start }));

/** Values that the payer typed while the script was loaded, or that the browser has restored. */
function typedIn({ forms }: Document): Typed {
  const [form] = forms;
  const entries = form === undefined ? [] : [...new FormData(form)];
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

/** Starts the checkout and opens its page. Resolves when the payer comes back. @throws Problem */
async function start(body: components['schemas']['CheckoutStart']): Promise<void> {
  const started = payerApi.POST('/api/v1/pay/links/{short_code}/sessions', {
    params: { path: { short_code: data.shortCode } },
    body,
  });
  const answer = await answerOf(started).catch(reason => {
    const problem = asProblem(reason);
    if (problem.code !== 'invalid_status_transition') throw atField(problem);
  });
  if (answer === undefined)
    location.reload(); // the link is no longer available; its page gives the reason
  else location.assign(`/pay/s/${answer.data.id}`);
  await new Promise(resolve => addEventListener('pageshow', resolve, { once: true }));
}

/** The problem at the field of the form from which the refused value was taken. */
function atField(problem: Problem): Problem {
  const { param, message } = problem;
  const email = data.terms.fields.find(({ type }) => type === 'email');
  if (param !== 'customerEmail' || email === undefined) return problem;
  return new Problem(message, { ...problem, param: paramOf(email) });
}
