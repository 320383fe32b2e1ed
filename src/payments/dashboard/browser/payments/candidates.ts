import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { unitsText } from '#pages/browser/amounts.ts';
import { Awaited, type Reply, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { ChoiceField, TextField } from '#pages/browser/fields.ts';
import { timeText } from '#pages/browser/moment.ts';
import { shortened } from '#pages/browser/reference.ts';
import { merchantWords } from '#payments/browser/outcome-words.ts';
import { api, type Payments } from '../api.ts';
import { type Chains, tokenAt, useChains } from '../chains.ts';

type Session = Payments['CheckoutSession'];

/** Checkout that a transfer may be meant for, with the name of its link. */
interface Candidate {
  readonly session: Session;
  readonly linkName: string | undefined;
}

interface CandidateFieldProps {
  /** Number of times that the dialog was opened. The candidates are loaded each time, and not before. */
  readonly openings: number;
  readonly load: (signal: AbortSignal) => Promise<Reply<Payments['CheckoutSessionList']>>;
  /** Called with the id of the chosen or typed checkout; empty while there is none. */
  readonly onSession: (id: string) => void;
}

/** Choice for a checkout that is not listed. No id of a session equals it. */
const ANOTHER = 'another';

/** Choice of the checkout for a transfer: its candidates, the best first, and the id of another one. */
export function CandidateField({ openings, load, onSession }: CandidateFieldProps): VNode | null {
  const candidates = useAnswer(signal => withLinkNames(load(signal), signal), [openings]);
  const chains = useChains() ?? [];
  const [chosen, setChosen] = useState(ANOTHER);
  const [typed, setTyped] = useState('');
  const known = candidates.answer?.data;
  const best = known?.[0]?.session.id;
  useEffect(() => {
    setChosen(best ?? ANOTHER);
    setTyped('');
    onSession(best ?? '');
  }, [known]);
  const choose = (id: string) => {
    setChosen(id);
    onSession(id === ANOTHER ? typed : id);
  };
  const type = (text: string) => {
    setTyped(text.trim());
    onSession(text.trim());
  };
  return h(Awaited<readonly Candidate[]>, {
    loading: candidates,
    children: found => html`
      ${
        found.length === 0
          ? html`<p class="small">No open or lately ended checkout asks for about this amount.</p>`
          : h(ChoiceField, {
              label: 'Checkout, the most probable first',
              param: 'candidate',
              value: chosen,
              onValue: choose,
              choices: [
                ...found.map(one => choiceOf(one, chains)),
                { id: ANOTHER, name: 'Another checkout', aside: '' },
              ],
            })
      }
      ${
        chosen === ANOTHER &&
        h(TextField, {
          label: 'Checkout ID',
          param: 'session_id',
          value: typed,
          isRequired: true,
          placeholder: 'cs_…',
          hint: 'It must have the same chain, token and recipient.',
          onValue: type,
        })
      }
    `,
  });
}

function choiceOf({ session, linkName }: Candidate, chains: Chains) {
  const { id, customerName, customerEmail, clientReferenceId } = session;
  const token = tokenAt(chains, session) ?? { symbol: 'units', decimals: 0 };
  const payer = customerName ?? customerEmail ?? clientReferenceId;
  return {
    id,
    name: [linkName ?? 'Checkout', payer].filter(text => text !== null).join(', '),
    detail: [
      merchantWords(session).badge,
      `asked for exactly ${unitsText(BigInt(session.amount_due), token)}`,
      `created ${timeText(session.created_at)}`,
      shortened(id),
    ].join(' · '),
    aside: unitsText(BigInt(session.amount), token),
  };
}

/** The candidates with the names of their links. A link that cannot be read has none. */
async function withLinkNames(
  asked: Promise<Reply<Payments['CheckoutSessionList']>>,
  signal: AbortSignal,
): Promise<Reply<readonly Candidate[]>> {
  const { data, error, response } = await asked;
  if (data === undefined) return { error, response };
  const links = new Set(data.data.map(({ payment_link_id }) => payment_link_id).filter(id => id !== null));
  const names = new Map(
    await Promise.all([...links].map(async id => [id, await linkName(id, signal)] as const)),
  );
  return {
    response,
    data: data.data.map(session => ({ session, linkName: names.get(session.payment_link_id ?? '') })),
  };
}

async function linkName(id: string, signal: AbortSignal): Promise<string | undefined> {
  const params = { path: { payment_link_id: id } };
  const { data } = await api.GET('/api/v1/payment-links/{payment_link_id}', { params, signal });
  return data?.name;
}
