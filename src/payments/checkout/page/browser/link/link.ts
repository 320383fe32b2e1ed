import type { components } from '#generated/payments/types.ts';
import { answerOf } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { asProblem, Problem } from '#pages/browser/problem.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { payerApi } from '../api.ts';
import { dataOf, showOver } from '../page-data.ts';
import { textsOf } from '../texts.ts';
import { LinkCheckout, type LinkData } from './link-checkout.ts';
import { paramOf, type Typed } from './payer-fields.ts';

const data = dataOf<LinkData>(document);
void textsOf(document).then(texts => {
  const onStart = (body: CheckoutStart) => start(body, texts);
  showOver(h(LinkCheckout, { data, typedBefore: typedIn(document), onStart }), texts);
});

type CheckoutStart = components['schemas']['CheckoutStart'];

/** Values that the payer typed while the script was loaded, or that the browser has restored. */
function typedIn({ forms }: Document): Typed {
  const [form] = forms;
  const entries = form === undefined ? [] : [...new FormData(form)];
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

/** Starts the checkout and opens its page. Resolves when the payer comes back. @throws Problem */
async function start(body: CheckoutStart, texts: Texts): Promise<void> {
  const started = payerApi.POST('/api/v1/pay/links/{short_code}/sessions', {
    params: { path: { short_code: data.shortCode } },
    body,
  });
  const answer = await answerOf(started).catch(reason => {
    const problem = asProblem(reason);
    if (problem.code !== 'invalid_status_transition') throw atField(problem, texts);
  });
  if (answer === undefined)
    location.reload(); // the link is no longer available; its page gives the reason
  else
    location.assign(
      `/pay/s/${answer.data.id}${location.search.includes('lang=') ? `?lang=${texts.language}` : ''}`,
    );
  await new Promise(resolve => addEventListener('pageshow', resolve, { once: true }));
}

/** The problem in the page's language, at the field of the form from which the refused value was taken. */
function atField(problem: Problem, { form }: Texts): Problem {
  const { param, code } = problem;
  const email = data.terms.fields.find(({ type }) => type === 'email');
  const field = param === 'customerEmail' && email !== undefined ? paramOf(email) : param;
  return new Problem(form.refused(code) ?? problem.message, { ...problem, param: field });
}
