import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { answerOf, ProblemNotice } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { asProblem, type Problem } from '#pages/browser/problem.ts';
import { show } from '#pages/browser/show.ts';
import { returnAddress, takeToken } from './addresses.ts';
import { signInApi } from './api.ts';

const token = takeToken();

/** Exchanges an API key, or the token of a one-time URL, for a cookie. Then opens the requested page. */
function SignIn(): VNode {
  const field = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(token !== undefined);
  const [problem, setProblem] = useState<Problem>();

  const signIn = async (credential: { key: string } | { token: string }) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await answerOf(signInApi.POST('/dashboard/session', { body: credential }));
      location.replace(returnAddress());
    } catch (reason) {
      // The one-time URL may have been used before in this browser, so it may be signed in.
      const { data: known } = 'token' in credential ? await signInApi.GET('/dashboard/session') : {};
      if (known !== undefined) return location.replace(returnAddress());
      setProblem(asProblem(reason));
      setBusy(false);
    }
  };
  useEffect(() => {
    if (token !== undefined) signIn({ token });
  }, []);
  useEffect(() => {
    if (!isBusy) field.current?.focus();
  }, [isBusy]);

  const submitted = (event: SubmitEvent) => {
    event.preventDefault();
    const input = field.current;
    if (input === null) return;
    const key = input.value.trim();
    input.value = '';
    if (key !== '') signIn({ key });
  };
  return html`
    <header class="top"><span class="brand">tollgate</span></header>
    <main id="content" class="narrow">
      <h1>Sign in</h1>
      ${h(Card, {
        children: html`
          <form class="stack" onSubmit=${submitted}>
            <label>
              API key
              <input ref=${field} type="password" autocomplete="off" spellcheck="false" required disabled=${isBusy} />
            </label>
            <p class="hint">
              The dashboard shows and offers what this key may see and do. The key is exchanged for a session of 12 hours and
              is not kept in the browser.
            </p>
            ${problem !== undefined && h(ProblemNotice, { problem })}
            <div><button class="primary" disabled=${isBusy}>${isBusy ? 'Signing in…' : 'Sign in'}</button></div>
          </form>
        `,
      })}
      <p class="hint">
        No key? The operator of this server creates one with <code>tollgate keys</code>, and an administrator of your
        organization creates more on the page Keys.
      </p>
    </main>
  `;
}

show(SignIn);
