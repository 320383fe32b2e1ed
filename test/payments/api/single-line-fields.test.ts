import { expect } from 'vitest';
import { record, text } from '../../lab/json.ts';
import { onSqlite as test } from '../../support/each-payments-api.ts';
import { errorOf, PLACE } from '../../support/payments-api.ts';

const LINKS = '/api/v1/payment-links';
const TERMS = { ...PLACE, amount: '5' };

/** Single-line fields that a merchant writes: the path, a body with the line, and the name of the field. */
const FIELDS: readonly [path: string, body: (line: string) => object, param: string][] = [
  [LINKS, name => ({ ...TERMS, name }), 'name'],
  [LINKS, button_text => ({ ...TERMS, name: 'A', button_text }), 'button_text'],
  [LINKS, return_label => ({ ...TERMS, name: 'A', return_label }), 'return_label'],
  [LINKS, business_name => ({ ...TERMS, name: 'A', branding: { business_name } }), 'branding.business_name'],
  [
    LINKS,
    label => ({ ...TERMS, name: 'A', form_schema: { fields: [{ id: 'a', type: 'text', label }] } }),
    'form_schema.fields.0.label',
  ],
  [
    LINKS,
    option => ({
      ...TERMS,
      name: 'A',
      form_schema: { fields: [{ id: 'a', type: 'select', label: 'A', options: [option] }] },
    }),
    'form_schema.fields.0.options.0',
  ],
  ['/api/v1/checkout-sessions', customerName => ({ ...TERMS, customerName }), 'customerName'],
  ['/api/v1/api-keys', name => ({ name, permission: 'read' }), 'name'],
];

/** Texts that break a line, change the text direction, or show nothing. */
const HIDDEN: readonly [what: string, line: string][] = [
  ['a line feed', 'Corner\nBooks'],
  ['U+0085', 'Corner\u0085Books'],
  ['U+2028', 'Corner\u2028Books'],
  ['U+2029', 'Corner\u2029Books'],
  ['U+202E', 'Corner\u202eskooB'],
  ['U+2066', 'Corner\u2066Books'],
  ['U+2069', 'Corner\u2069Books'],
  ['tag characters only', '\u{e0001}\u{e0065}'],
  ['braille blanks only', '\u2800\u2800'],
  ['zero-width characters only', '\u200b\u200d\ufeff'],
];

test.for(HIDDEN)(
  'a single-line text with %s is refused in every field, and the error names the field',
  async ([_, line], { merchant }) => {
    const answers: string[] = [];
    for (const [path, body] of FIELDS) answers.push(errorOf(await merchant.post(path, body(line))));

    expect(answers).toEqual(FIELDS.map(([, , param]) => `400 invalid_field_value ${param}`));
  },
);

test('a single-line text in any script is accepted in every field', async ({ merchant }) => {
  const line = 'Bücher 本屋 مكتبة 👩‍👩‍👧';

  for (const [path, body] of FIELDS) expect((await merchant.post(path, body(line))).status, path).toBe(201);
});

test.for(['name', 'line1', 'line2', 'city', 'state', 'zip'])(
  'a payer’s line break or direction override in the %s of an address is refused',
  async (field, { api, merchant }) => {
    const link = record(
      (await merchant.post(LINKS, { ...TERMS, name: 'A', collect_shipping_address: true })).body,
    );
    const path = `/api/v1/pay/links/${text(link.short_code)}/sessions`;
    const address = { line1: '12 St James’s Square', line2: '', city: 'London', zip: 'SW1Y 4JH' };
    const open = (line: string) => api.payer.post(path, { shipping_address: { ...address, [field]: line } });

    const answers = [await open('Corner\nBooks'), await open('Corner\u202eskooB')];

    expect(answers.map(errorOf)).toEqual(Array(2).fill(`400 invalid_field_value shipping_address.${field}`));
    expect((await open('本屋')).status).toBe(201);
  },
);

test.for(HIDDEN)('a payer’s single-line text with %s is refused', async ([_, line], { api, merchant }) => {
  const fields = [{ id: 'size', type: 'text', label: 'Size' }];
  const link = record((await merchant.post(LINKS, { ...TERMS, name: 'A', form_schema: { fields } })).body);
  const path = `/api/v1/pay/links/${text(link.short_code)}/sessions`;

  const answers = [
    await api.payer.post(path, { customerName: line }),
    await api.payer.post(path, { form_data: { size: line } }),
  ];

  expect(answers.map(errorOf)).toEqual([
    '400 invalid_field_value customerName',
    '400 invalid_field_value form_data.size',
  ]);
});
