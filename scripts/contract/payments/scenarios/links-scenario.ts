import type { JsonObject } from '#contract/contracts/document.ts';
import { list } from '#contract/contracts/document.ts';
import { randomBase62 } from '#lib/ids.ts';
import { isObject } from '#lib/json.ts';
import type { Tester } from '../tester.ts';

/**
 * Links of a run: one with a fixed amount, and one whose payer chooses the amount, fills in a form and gives a shipping
 * address.
 */
export interface Links {
  readonly fixed: JsonObject;
  readonly open: JsonObject;
}

const AMOUNT = '1250000';

/** Creates both, reads and changes them. Returns undefined, and reports a finding, when no link can be created. */
export async function linksStory(tester: Tester): Promise<Links | undefined> {
  const place = await placeOf(tester);
  if (place === undefined) return undefined;
  const fixed = await makeOnce(tester, { ...place, name: `Contract run ${randomBase62(6)}`, amount: AMOUNT });
  const open = await tester.ask('createPaymentLink', { body: { ...place, ...openTerms() } }, ['201']);
  await changes(tester, fixed);
  await copies(tester, open.body);
  return { fixed, open: open.body };
}

/** Chain, token and recipient from the organization's defaults, else from any link. */
async function placeOf(tester: Tester): Promise<JsonObject | undefined> {
  const tried = await tester.ask('createPaymentLink', { body: { name: 'Contract run', amount: AMOUNT } }, [
    '201',
    '400 missing_required_field',
  ]);
  if (tried.status === 201) return {};
  const { body } = await tester.ask('listPaymentLinks', { query: 'limit=1' }, ['200']);
  const [known] = list(body, 'data').filter(entry => isObject(entry));
  if (known === undefined) {
    tester.report('no link can be made: the organization has neither defaults nor a link to copy from');
    return undefined;
  }
  const { chain_id = null, token_address = null, recipient_address = null } = known;
  return { chain_id, token_address, recipient_address };
}

/** Tests that a repeated request with the same idempotency key has its effect once. */
async function makeOnce(tester: Tester, terms: JsonObject): Promise<JsonObject> {
  const headers = { 'idempotency-key': `contract-run-${randomBase62(12)}` };
  const first = await tester.ask('createPaymentLink', { body: terms, headers }, ['201']);
  const again = await tester.ask('createPaymentLink', { body: terms, headers }, ['201']);
  if (first.text !== again.text || again.headers['idempotent-replayed'] !== 'true') {
    tester.report('createPaymentLink: a request with the same Idempotency-Key has another answer');
  }
  const other = { ...terms, name: 'Another one' };
  await tester.ask('createPaymentLink', { body: other, headers }, ['409 idempotency_conflict']);
  return first.body;
}

/** Terms with every field of a link. */
function openTerms(): JsonObject {
  return {
    name: 'Contract run ✓ <b>"quoted"</b> %_',
    description: "'; drop table payment_links; --",
    min_amount: '1000',
    max_amount: AMOUNT,
    suggested_amount: '5000',
    theme_color: '#0052ff',
    button_text: 'Pay now',
    return_url: 'https://shop.example/thanks?session={SESSION_ID}',
    return_label: 'Back to the shop',
    image_url: 'https://shop.example/picture.png',
    branding: { business_name: 'Contract run', logo_url: null },
    form_schema: {
      fields: [
        { id: 'size', type: 'select', label: 'Size', required: true, options: ['S', 'M'] },
        { id: 'note', type: 'textarea', label: 'Note' },
      ],
    },
    shipping_options: [{ id: 'post', name: 'Post', amount: '100', estimated_days: 3 }],
    collect_shipping_address: true,
    max_uses: 100,
    expires_at: '2999-01-01T00:00:00+02:00',
    metadata: { run: 'contract' },
  };
}

/** Tests a copy, which differs in name and identity. The clean-up deletes it. */
async function copies(tester: Tester, link: JsonObject): Promise<void> {
  const at = { payment_link_id: String(link.id) };
  const { body: copy } = await tester.ask('duplicatePaymentLink', { at, body: {} }, ['201']);
  const { name, description, metadata } = copy;
  const isCopy = name === `Copy of ${link.name}` && description === link.description;
  if (!isCopy || JSON.stringify(metadata) !== JSON.stringify(link.metadata) || copy.id === link.id) {
    tester.report('duplicatePaymentLink: the copy differs from its original');
  }
  const taken = { short_code: String(link.short_code) };
  await tester.ask('duplicatePaymentLink', { at, body: taken }, ['409 duplicate_resource short_code']);
}

async function changes(tester: Tester, link: JsonObject): Promise<void> {
  const at = { payment_link_id: String(link.id) };
  const description = 'Changed by the contract run';
  const changed = await tester.ask('updatePaymentLink', { at, body: { description, is_active: false } }, [
    '200',
  ]);
  const read = await tester.ask('getPaymentLink', { at }, ['200']);
  if (read.text !== changed.text || read.body.description !== description) {
    tester.report('getPaymentLink: differs from the response to the change');
  }
  const code = String(link.short_code);
  await tester.ask('startCheckout', { at: { short_code: code }, body: {} }, [
    '400 invalid_status_transition',
  ]);
  await tester.ask('updatePaymentLink', { at, body: { is_active: true, description: null } }, ['200']);
  await tester.ask('updatePaymentLink', { at, body: { name: null } }, ['400 invalid_field_value name']);
  const taken = { name: 'Contract run', amount: '1', short_code: code };
  const { chain_id = null, token_address = null, recipient_address = null } = link;
  const body = { ...taken, chain_id, token_address, recipient_address };
  await tester.ask('createPaymentLink', { body }, ['409 duplicate_resource short_code']);
}
