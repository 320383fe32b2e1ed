import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { answerOf, ProblemNotice } from '#pages/browser/answer.ts';
import { ChangeForm, StatusMessage, useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { TextField } from '#pages/browser/fields.ts';
import { Card } from '#pages/browser/layout.ts';
import { asProblem, type Problem } from '#pages/browser/problem.ts';
import { show } from '#pages/browser/show.ts';
import { returnAddress, takeToken } from '../addresses.ts';
import { type DashboardRecords, signInApi } from '../api.ts';
import { mayHaveSession } from '../session/known-session.ts';
import { askPasskey, hasPasskeys } from '../session/passkey.ts';

const token = takeToken();

/**
 * Exchanges the token of a one-time address for a cookie, and asks first in a browser that is signed in (Decision 244). Then
 * opens the requested page.
 */
function SignInPage(): VNode {
  const [isBusy, setBusy] = useState(token !== undefined);
  const [problem, setProblem] = useState<Problem>();
  /** Session of this browser, which signing in by the address would end. */
  const [session, setSession] = useState<DashboardRecords['DashboardSession']>();

  const signIn = async (credential: DashboardRecords['DashboardSignIn']) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await answerOf(signInApi.POST('/dashboard/session', { body: credential }));
      location.replace(returnAddress());
    } catch (reason) {
      // The address may have been used before in this browser, so it may be signed in.
      const { data: known } = await signInApi.GET('/dashboard/session');
      if (known !== undefined) return location.replace(returnAddress());
      setProblem(asProblem(reason));
      setBusy(false);
    }
  };
  const byPasskey = async () => {
    setProblem(undefined);
    try {
      const { data } = await answerOf(signInApi.POST('/dashboard/passkey-challenges'));
      await signIn({ passkey: await askPasskey(data.options) });
    } catch (reason) {
      setProblem(asProblem(reason));
    }
  };
  const byAddress = async (address: string) => {
    const { data } = mayHaveSession()
      ? await signInApi.GET('/dashboard/session').catch(() => ({ data: undefined }))
      : { data: undefined };
    if (data === undefined) return signIn({ token: address });
    setSession(data);
    setBusy(false);
  };
  useEffect(() => {
    if (token !== undefined) byAddress(token);
  }, []);
  if (session !== undefined && !isBusy)
    return h(Frame, {
      problem,
      children: html`
        <p>
          You are signed in as <b>${session.member.name}</b> of <b>${session.organization.name}</b>. Use the link only if
          you asked for it, or know who sent it: it ends this session, and may sign you in to another organization.
        </p>
        <div class="row">
          <a class="button primary" href=${returnAddress()}>Stay signed in</a>
          <button type="button" onClick=${() => token !== undefined && signIn({ token })}>Sign in by the link</button>
        </div>
      `,
    });
  return h(Frame, {
    problem,
    children: isBusy
      ? html`<p role="status">Signing in…</p>`
      : html`
          ${
            hasPasskeys() &&
            html`<p><button type="button" class="primary" onClick=${byPasskey}>Sign in with a passkey</button></p>`
          }
          ${h(MailForm, {})}
        `,
    hint: html`
      No mail? An owner of your organization invites you, or sends you a link, on the page People. The operator of this
      server makes a link for an owner with <code>tollgate keys owner-link</code>.
    `,
  });
}

function Frame({
  problem,
  children,
  hint,
}: {
  problem: Problem | undefined;
  children: ComponentChildren;
  hint?: ComponentChildren;
}): VNode {
  return html`
    <header class="top"><span class="brand">tollgate</span></header>
    <main id="content" class="narrow">
      <h1>Sign in</h1>
      ${problem !== undefined && h(ProblemNotice, { problem })}
      ${h(Card, { children })}
      ${hint !== undefined && html`<p class="hint">${hint}</p>`}
    </main>
  `;
}

/** Form that requests a mail with a one-time address. */
function MailForm(): VNode {
  const [email, setEmail] = useState('');
  const [isSent, setSent] = useState(false);
  const change = useChange();
  const onSubmit = () =>
    change.run(async () => {
      await answerOf(signInApi.POST('/dashboard/sign-in-mails', { body: { email: email.trim() } }));
      setSent(true);
    });
  return html`
    ${h(StatusMessage, {
      children: isSent
        ? 'If this is the e-mail address of a member, a sign-in link is on its way. It works once, within 15 minutes.'
        : '',
    })}
    ${h(ChangeForm, {
      label: 'Sign in by e-mail',
      action: 'E-mail me a sign-in link',
      change,
      onSubmit,
      children: h(TextField, {
        label: 'E-mail',
        param: 'email',
        type: 'email',
        value: email,
        isRequired: true,
        onValue: setEmail,
      }),
    })}
  `;
}

show(SignInPage);
