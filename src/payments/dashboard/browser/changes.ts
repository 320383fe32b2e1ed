import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { Problem, ProblemNotice } from '#pages/browser/answer.ts';

/** State of a change that a page sends. */
export interface Change {
  readonly isBusy: boolean;
  readonly problem: Problem | undefined;
  /** Runs the change unless one is under way; true when it succeeded. */
  readonly run: (send: () => Promise<unknown>) => Promise<boolean>;
}

/** Sends one change at a time, and keeps the problem of the last one. */
export function useChange(): Change {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  return {
    isBusy,
    problem,
    async run(send) {
      if (isBusy) return false;
      setBusy(true);
      setProblem(undefined);
      try {
        await send();
        return true;
      } catch (reason) {
        setProblem(reason instanceof Problem ? reason : new Problem(String(reason), {}));
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}

/** A button that asks before it changes something. The dialog stays open with the problem when the change fails. */
export function ConfirmedButton({
  label,
  question,
  confirm = label,
  isDanger = false,
  send,
  children,
}: {
  /** Text of the button. */
  label: string;
  /** Heading of the dialog. */
  question: string;
  /** Text of the button that goes on. */
  confirm?: string;
  isDanger?: boolean;
  send: () => Promise<unknown>;
  /** What happens, in words. */
  children?: ComponentChildren;
}): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const { isBusy, problem, run } = useChange();
  const goOn = async () => {
    if (await run(send)) dialog.current?.close();
  };
  const tone = isDanger ? 'danger' : '';
  return html`
    <button type="button" class=${tone} onClick=${() => dialog.current?.showModal()}>${label}</button>
    <dialog ref=${dialog} aria-labelledby=${heading}>
      <div class="stack">
        <h2 id=${heading}>${question}</h2>
        ${children}
        ${problem !== undefined && html`<${ProblemNotice} problem=${problem} />`}
        <div class="row">
          <button type="button" class=${tone || 'primary'} disabled=${isBusy} onClick=${goOn}>${confirm}</button>
          <button type="button" onClick=${() => dialog.current?.close()}>Cancel</button>
        </div>
      </div>
    </dialog>
  `;
}
