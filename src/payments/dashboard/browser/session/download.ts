import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { loadedSession, readSession } from './send.ts';

type Clicked = MouseEvent & { readonly currentTarget: HTMLAnchorElement };

/**
 * Link to a file of the API, which browsers write to the disk as it arrives. A link sends no headers, so its address names
 * the session with which the page was loaded (Decision 426). The session is read first, so that a page of another one
 * says so instead of saving a refusal.
 */
export function Download({
  path,
  query = {},
  file,
  label,
}: {
  /** Below `/dashboard/api/v1/`. */
  path: string;
  query?: object;
  /** Name of the file. */
  file: string;
  label: string;
}): VNode {
  const isChecked = useRef(false);
  const [isFailed, setFailed] = useState(false);
  const words = Object.entries(query).map(([name, value]) => [name, String(value)]);
  const search = new URLSearchParams([...words, ['dashboard_session', loadedSession() ?? '']]);
  const check = (event: Clicked) => {
    const { currentTarget: link } = event;
    if (isChecked.current) {
      isChecked.current = false;
      return;
    }
    event.preventDefault();
    const follow = async () => {
      setFailed(false);
      if (!(await readSession())) return;
      isChecked.current = true;
      link.click();
    };
    follow().catch(() => setFailed(true));
  };
  return html`<a class="button" download=${file} href=${`/dashboard/api/v1/${path}?${search}`} onClick=${check}>${label}</a>
    ${isFailed && html`<span role="alert">The server cannot be reached. Try again.</span>`}`;
}
