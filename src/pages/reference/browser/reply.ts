const MAX_CHARACTERS = 200_000;

/** Parts of a reply that are shown. */
interface ShownReply {
  /** Status, time and address in a line. */
  readonly line: string;
  readonly headers?: Headers;
  readonly body?: string;
}

/** Shows a reply, or what happens in its place. */
export function showReply(element: Element, { line: text, headers, body }: ShownReply): void {
  element.replaceChildren(
    line(text),
    ...(headers === undefined ? [] : [block('Headers', headerLines(headers))]),
    ...(body === undefined ? [] : [block('Body', formatted(body))]),
  );
}

function headerLines(headers: Headers): string {
  return [...headers].map(([name, value]) => `${name}: ${value}`).join('\n');
}

function formatted(text: string): string {
  const shown = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
  try {
    return text.length > MAX_CHARACTERS ? shown : JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return shown;
  }
}

function line(text: string): HTMLElement {
  const element = document.createElement('p');
  element.textContent = text;
  return element;
}

function block(name: string, text: string): HTMLElement {
  const element = document.createElement('pre');
  element.tabIndex = 0;
  element.setAttribute('aria-label', name);
  element.textContent = text;
  return element;
}
