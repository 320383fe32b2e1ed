import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ProblemNotice } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Facts } from '#pages/browser/layout.ts';
import { Moment } from '#pages/browser/moment.ts';
import { asProblem, type Problem } from '#pages/browser/problem.ts';
import { MEMBER_ROLES } from '#payments/browser/member-roles.ts';
import { dashboard } from './addresses.ts';
import { type SignIn, signOut, switchMode } from './api.ts';
import { useSignIn } from './signed-in.ts';

/** Name of a mode, for people. */
export function modeName(mode: SignIn['mode']): string {
  return mode === 'live' ? 'Live' : 'Test';
}

/** Menu of the account: organization, mode and member, with the buttons for switching the mode and signing out. */
export function AccountMenu(): VNode {
  const { organization, mode, modes, member, expires_at } = useSignIn();
  const [problem, setProblem] = useState<Problem>();
  const run = (work: Promise<unknown>) => work.catch(reason => setProblem(asProblem(reason)));
  const others = modes.filter(other => other !== mode);
  return html`<details class="menu">
    <summary>
      <span class="clipped">${organization.name}</span> ${h(Badge, {
        tone: mode === 'live' ? 'good' : 'warning',
        children: modeName(mode),
      })}
    </summary>
    <div class="card">
      ${h(Facts, {
        rows: [
          ['Signed in as', member.email === null ? member.name : `${member.name} (${member.email})`],
          ['Role', MEMBER_ROLES[member.role].name],
          ['Signed in until', h(Moment, { at: expires_at })],
        ],
      })}
      <div class="row">
        ${others.map(
          other =>
            html`<button type="button" class="primary" onClick=${() => run(switchMode(other))}>
              Switch to ${modeName(other).toLowerCase()} mode
            </button>`,
        )}
        <button type="button" onClick=${() => run(signOut({ everywhere: false }))}>Sign out</button>
        ${h(DialogButton, {
          label: 'Sign out everywhere',
          tone: 'danger',
          onConfirm: () => signOut({ everywhere: true }),
          children: html`<p>This ends all your sessions, also in other browsers.</p>`,
        })}
      </div>
      <p><a href=${dashboard.account}>Your account: passkeys and open sessions</a></p>
      ${problem !== undefined && h(ProblemNotice, { problem })}
    </div>
  </details>`;
}
