import { commaAdvice, plainUnits, smallestUnits, unitsText } from '#pages/browser/amounts.ts';
import { besideField } from '#pages/browser/problem.ts';
import { type CheckoutStart, payerApi } from './api.ts';

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Starts a checkout with the form of a link and opens its page. */
export function startByForm(form: HTMLFormElement): void {
  form.noValidate = true; // faults are shown next to the fields instead
  setBusy(form, false);
  showTotal(form);
  form.addEventListener('input', ({ target }) => {
    if (isField(target)) showFault(target, '');
    showTotal(form);
  });
  form.addEventListener('submit', async event => {
    event.preventDefault();
    if (form.hasAttribute('aria-busy') || !isFilledIn(form)) return;
    setBusy(form, true);
    if (!(await start(form))) setBusy(form, false);
  });
  // The browser's back button restores the form as it was left, in its busy state.
  addEventListener('pageshow', () => setBusy(form, false));
}

function setBusy(form: HTMLFormElement, isBusy: boolean): void {
  if (isBusy) form.setAttribute('aria-busy', 'true');
  else form.removeAttribute('aria-busy');
  form.querySelector('button[type=submit]')?.toggleAttribute('disabled', isBusy);
}

/** Starts the checkout. Returns true when the browser is opening it. */
async function start(form: HTMLFormElement): Promise<boolean> {
  showFormFault(form, '');
  try {
    const { data, error, response } = await payerApi.POST('/api/v1/pay/links/{short_code}/sessions', {
      params: { path: { short_code: form.dataset.shortCode ?? '' } },
      body: bodyOf(form),
    });
    if (data !== undefined) {
      location.assign(`/pay/s/${data.id}`);
      return true;
    }
    showRefusal(form, response.status, error.error);
  } catch {
    // An answer from a proxy instead of the API also ends here.
    showFormFault(form, 'The server could not be reached. Please check your connection and try again.');
  }
  return false;
}

/** Body of the request, from the named fields. `shipping_address.city` is a field of an object. */
function bodyOf(form: HTMLFormElement): CheckoutStart {
  const body: CheckoutStart = {};
  const address: Record<string, string> = {};
  for (const field of fieldsOf(form)) {
    const value = chosenOf(field);
    if (value === undefined) continue;
    const [name = '', inner = ''] = field.name.split('.');
    if (name === 'form_data') body.form_data = { ...body.form_data, [inner]: value };
    else if (name === 'shipping_address') address[inner] = String(value);
    else if (isOwnField(name)) body[name] = String(value);
    if (field.type === 'email') body.customerEmail ??= String(value);
  }
  const { line1, zip, city, ...others } = address;
  if (line1 !== undefined && zip !== undefined && city !== undefined) {
    body.shipping_address = { ...others, line1, zip, city };
  }
  return body;
}

function isOwnField(name: string): name is 'amount' | 'shipping_option_id' | 'clientReferenceId' {
  return ['amount', 'shipping_option_id', 'clientReferenceId'].includes(name);
}

/** Named fields, hidden ones included. */
function fieldsOf(form: HTMLFormElement): Field[] {
  return [...form.elements].filter(isField);
}

function isField(element: EventTarget | null): element is Field {
  return (
    (element instanceof HTMLInputElement ||
      element instanceof HTMLSelectElement ||
      element instanceof HTMLTextAreaElement) &&
    element.name !== ''
  );
}

function chosenOf(field: Field): string | number | boolean | undefined {
  if (field instanceof HTMLInputElement) {
    if (field.type === 'checkbox') return field.checked;
    if (field.type === 'radio') return field.checked ? field.value : undefined;
    if (field.type === 'number' && field.value !== '') return field.valueAsNumber;
  }
  if (field.value.trim() === '') return undefined;
  if (field.name === 'amount') return String(smallestUnits(field.value, Number(field.dataset.decimals)));
  return field.value.trim();
}

function isFilledIn(form: HTMLFormElement): boolean {
  const wrong = fieldsOf(form).filter(field => {
    const fault = faultOf(field, form.dataset.symbol ?? '');
    showFault(field, fault);
    return fault !== '';
  });
  wrong[0]?.focus();
  return wrong.length === 0;
}

function faultOf(field: Field, symbol: string): string {
  if (!field.validity.valid) return field.validationMessage;
  if (field.name !== 'amount') return '';
  const { least = '0', most } = field.dataset;
  const decimals = Number(field.dataset.decimals);
  const units = smallestUnits(field.value, decimals);
  if (units === undefined) {
    const advice = `Enter an amount in ${symbol}, in digits, with at most ${decimals} decimals.`;
    return commaAdvice(field.value) ?? advice;
  }
  if (units < BigInt(least)) return `The minimum is ${plainUnits(BigInt(least), decimals)} ${symbol}.`;
  if (most !== undefined && units > BigInt(most))
    return `The maximum is ${plainUnits(BigInt(most), decimals)} ${symbol}.`;
  return '';
}

/** Shows a refusal of the server next to the field that it names. */
function showRefusal(
  form: HTMLFormElement,
  status: number,
  {
    code,
    message,
    param,
  }: { readonly code: string; readonly message: string; readonly param?: string | null },
): void {
  const field = fieldsOf(form).find(({ name }) => name === nameOf(form, param));
  if (field !== undefined) {
    const isMissing = code === 'missing_required_field';
    showFault(field, isMissing ? 'Please fill this in.' : besideField(message));
    field.focus();
  } else if (code === 'invalid_status_transition') {
    location.reload(); // the link is no longer available; its page gives the reason
  } else if (status === 429) {
    showFormFault(form, 'Too many attempts. Please wait a minute and try again.');
  } else {
    showFormFault(form, 'The checkout could not be started. Please check what you filled in and try again.');
  }
}

function nameOf(form: HTMLFormElement, param: string | null | undefined): string | null | undefined {
  return param === 'customerEmail' ? fieldsOf(form).find(({ type }) => type === 'email')?.name : param;
}

function showFault(field: Field, fault: string): void {
  const element = document.getElementById(`error-${field.name}`);
  if (element === null) return;
  if (fault === '') field.removeAttribute('aria-invalid');
  else field.setAttribute('aria-invalid', 'true');
  element.textContent = fault;
  element.hidden = fault === '';
}

function showFormFault(form: HTMLFormElement, fault: string): void {
  const element = form.querySelector<HTMLElement>('#form-error');
  if (element === null) return;
  element.textContent = fault;
  element.hidden = fault === '';
}

/** Shows the total of price and shipping in all elements for it. */
function showTotal(form: HTMLFormElement): void {
  const token = { symbol: form.dataset.symbol ?? '', decimals: Number(form.dataset.decimals) };
  const typed = fieldsOf(form).find(({ name }) => name === 'amount');
  const price =
    typed === undefined ? BigInt(form.dataset.price ?? '') : smallestUnits(typed.value, token.decimals);
  const chosen = form.querySelector<HTMLInputElement>('input[name=shipping_option_id]:checked');
  const shipping = BigInt(chosen?.dataset.amount ?? 0);
  const total = price === undefined ? '' : unitsText(price + shipping, token);
  for (const element of document.querySelectorAll('#total, #price, [data-total]'))
    element.textContent = total;
  for (const element of document.querySelectorAll('[data-shipping]')) {
    element.textContent = unitsText(shipping, token);
  }
}
