import { showReply } from './reply.ts';
import { type RequestField, requestOfForm } from './request.ts';

/** Sends the requests of forms to the page's own origin, and shows their replies. */
document.addEventListener('submit', event => {
  event.preventDefault();
  if (event.target instanceof HTMLFormElement) send(event.target);
});

async function send(form: HTMLFormElement): Promise<void> {
  const reply = form.querySelector('.reply');
  if (reply === null) return;
  const { method = 'get', path = '/' } = form.dataset;
  const key = keyField()?.value ?? '';
  const { target, init } = requestOfForm({ method, path, key }, fieldsOf(form));
  showReply(reply, { line: 'Sending…' });
  const start = performance.now();
  try {
    const response = await fetch(target, init);
    const body = await response.text();
    const { status, statusText, headers } = response;
    const ms = Math.round(performance.now() - start);
    const asked = `${method.toUpperCase()} ${location.origin}${target}`;
    showReply(reply, { line: `${status} ${statusText} · ${ms} ms · ${asked}`, headers, body });
  } catch (error) {
    showReply(reply, { line: `No reply: ${error instanceof Error ? error.message : 'unknown reason'}` });
  }
}

function fieldsOf(form: HTMLFormElement): RequestField[] {
  const inputs = form.querySelectorAll<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>(
    '[data-in]',
  );
  return [...inputs].map(({ name, value, dataset }) => ({
    name,
    value,
    section: dataset.in ?? 'query',
    isList: dataset.list !== undefined,
  }));
}

/** Kept for the pages of other operations, until the tab is closed. */
const KEY = 'tollgate-key';
const field = keyField();
if (field !== null) {
  field.value = sessionStorage.getItem(KEY) ?? '';
  field.addEventListener('change', () => sessionStorage.setItem(KEY, field.value));
}

function keyField(): HTMLInputElement | null {
  return document.querySelector<HTMLInputElement>('#key');
}
