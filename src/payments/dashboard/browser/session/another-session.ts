import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type BrowserSession, onAnotherSession, readSession } from './send.ts';

/** Covers the page after the browser has signed in to another organization or mode in another window. */
export function AnotherSession(): VNode {
  const [signIn, setSignIn] = useState<BrowserSession>();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => onAnotherSession(setSignIn), []);
  useEffect(() => {
    const look = () => {
      if (!document.hidden) readSession().catch(() => {}); // the page's own requests report an outage
    };
    addEventListener('focus', look);
    return () => removeEventListener('focus', look);
  }, []);
  useEffect(() => {
    if (signIn !== undefined) dialog.current?.showModal();
  }, [signIn]);
  return html`<dialog ref=${dialog} class="cover" aria-labelledby="another-session" onCancel=${stay}>
    ${
      signIn !== undefined &&
      html`<div class="stack">
        <h2 id="another-session">You are now signed in as ${signIn.organization.name} (${signIn.mode === 'live' ? 'Live' : 'Test'})</h2>
        <p>You signed in again in another window of this browser. This page has stopped, and nothing on it was changed.</p>
        <div class="row">
          <button type="button" class="primary" onClick=${() => location.reload()}>Continue as ${signIn.organization.name}</button>
        </div>
      </div>`
    }
  </dialog>`;
}

/** Keeps the dialog open: there is nothing to go back to. */
function stay(event: Event): void {
  event.preventDefault();
}
