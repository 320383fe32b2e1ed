import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { StatusMessage } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { openPage } from '../frame.ts';
import { OpenSessions } from './open-sessions.ts';
import { Passkeys } from './passkeys.ts';

/** Page of the member: passkeys, and the browsers that are signed in. */
function AccountPage(): VNode {
  const [said, setSaid] = useState('');
  return html`
    <h1>Your account</h1>
    ${h(StatusMessage, { children: said })}
    ${h(Passkeys, { onSaid: setSaid })}
    ${h(OpenSessions, { onSaid: setSaid })}
  `;
}

openPage('Your account', AccountPage);
