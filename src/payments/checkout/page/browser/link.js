import { inTokens, inUnits } from './amounts.js';

/** Starts a checkout by the form of a link, and leads to it. Null where the link is not available. */
export function startByForm(form) {
  if (form === null) return;
  const button = form.querySelector('button[type=submit]');
  form.noValidate = true; // faults are shown beside the fields instead
  button.disabled = false;
  showTotal(form);
  form.addEventListener('input', event => {
    if (event.target.name) showFault(event.target, '');
    showTotal(form);
  });
  form.addEventListener('submit', async event => {
    event.preventDefault();
    if (button.disabled) return;
    if (!isFilledIn(form)) return;
    button.disabled = true;
    form.setAttribute('aria-busy', 'true');
    const led = await start(form);
    if (led) return;
    button.disabled = false;
    form.removeAttribute('aria-busy');
  });
  // Coming back by the browser's button finds the form as it was left, busy.
  addEventListener('pageshow', () => {
    button.disabled = false;
    form.removeAttribute('aria-busy');
  });
}

/** True when the browser is on its way to the checkout. */
async function start(form) {
  showFormFault(form, '');
  try {
    const answer = await fetch(`/api/v1/pay/links/${form.dataset.shortCode}/sessions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(bodyOf(form)),
    });
    const body = await answer.json();
    if (answer.status === 201) {
      location.assign(`/pay/s/${body.id}`);
      return true;
    }
    showRefusal(form, answer.status, body.error);
  } catch {
    showFormFault(form, 'The server could not be reached. Please check your connection and try again.');
  }
  return false;
}

/** What was filled in, by the names of the fields: `shipping_address.city` is a field of an object. */
function bodyOf(form) {
  const body = {};
  for (const field of form.elements) {
    const value = field.name ? chosenOf(field) : undefined;
    if (value === undefined) continue;
    const [outer, inner] = field.name.split('.');
    if (inner === undefined) body[outer] = value;
    else body[outer] = { ...body[outer], [inner]: value };
    if (field.type === 'email') body.customerEmail ??= value;
  }
  return body;
}

function chosenOf(field) {
  if (field.type === 'checkbox') return field.checked;
  if (field.type === 'radio') return field.checked ? field.value : undefined;
  if (field.value.trim() === '') return undefined;
  if (field.type === 'number') return field.valueAsNumber;
  if (field.name === 'amount') return String(inUnits(field.value, Number(field.dataset.decimals)));
  return field.value.trim();
}

function isFilledIn(form) {
  const wrong = [...form.elements].filter(field => {
    if (!field.name) return false;
    const fault = faultOf(field, form.dataset.symbol);
    showFault(field, fault);
    return fault !== '';
  });
  wrong[0]?.focus();
  return wrong.length === 0;
}

function faultOf(field, symbol) {
  if (!field.validity.valid) return field.validationMessage;
  if (field.name !== 'amount') return '';
  const { decimals, least, most } = field.dataset;
  const units = inUnits(field.value, Number(decimals));
  if (units === undefined)
    return `Enter an amount in ${symbol}, in digits, with at most ${decimals} decimals.`;
  if (units < BigInt(least)) return `The least is ${inTokens(BigInt(least), Number(decimals))} ${symbol}.`;
  if (most !== undefined && units > BigInt(most))
    return `The most is ${inTokens(BigInt(most), Number(decimals))} ${symbol}.`;
  return '';
}

/** A refusal of the server, beside the field that it names. */
function showRefusal(form, status, error) {
  const field = [...form.elements].find(one => one.name && one.name === nameOf(form, error?.param));
  if (field !== undefined) {
    const isMissing = error.code === 'missing_required_field';
    showFault(field, isMissing ? 'Please fill this in.' : 'This is not accepted. Please check it.');
    field.focus();
  } else if (error?.code === 'invalid_status_transition') {
    location.reload(); // the link is not available any more, and its page says why
  } else if (status === 429) {
    showFormFault(form, 'Too many attempts. Please wait a minute and try again.');
  } else {
    showFormFault(form, 'The checkout could not be started. Please check what you filled in and try again.');
  }
}

function nameOf(form, param) {
  return param === 'customerEmail' ? form.querySelector('input[type=email]')?.name : param;
}

function showFault(field, fault) {
  const place = document.getElementById(`error-${field.name}`);
  if (place === null) return;
  field.toggleAttribute('aria-invalid', fault !== '');
  if (fault !== '') field.setAttribute('aria-invalid', 'true');
  place.textContent = fault;
  place.hidden = fault === '';
}

function showFormFault(form, fault) {
  const place = form.querySelector('#form-error');
  place.textContent = fault;
  place.hidden = fault === '';
}

/** Price and shipping together, wherever they stand. */
function showTotal(form) {
  const decimals = Number(form.dataset.decimals);
  const typed = form.elements.namedItem('amount');
  const price = typed === null ? BigInt(form.dataset.price) : inUnits(typed.value, decimals);
  const shipping = BigInt(form.querySelector('input[name=shipping_option_id]:checked')?.dataset.amount ?? 0);
  const text = units => `${inTokens(units, decimals)} ${form.dataset.symbol}`;
  const total = price === undefined ? '' : text(price + shipping);
  form.querySelector('#total').textContent = total;
  for (const place of document.querySelectorAll('#price, [data-total]')) place.textContent = total;
  for (const place of document.querySelectorAll('[data-shipping]')) place.textContent = text(shipping);
}
