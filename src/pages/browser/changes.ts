import { html } from 'htm/preact';
import { type ComponentChildren, type RefObject, toChildArray, type VNode } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { ProblemNotice } from './answer.ts';
import { Refusals } from './fields.ts';
import { asProblem, type Problem } from './problem.ts';

/** Change that a page sends, one at a time. */
export interface Change {
  readonly isBusy: boolean;
  /** Problem of the last attempt. */
  readonly problem: Problem | undefined;
  /** Runs the change unless one is in progress. Resolves to true on success; a failure is stored in `problem`. */
  readonly run: (work: () => Promise<unknown>) => Promise<boolean>;
  readonly clear: () => void;
}

export function useChange(): Change {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  return {
    isBusy,
    problem,
    clear: () => setProblem(undefined),
    async run(work) {
      if (isBusy) return false;
      setBusy(true);
      setProblem(undefined);
      try {
        await work();
        return true;
      } catch (reason) {
        setProblem(asProblem(reason));
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}

/**
 * Form that sends a change. A refusal is shown above the button and at its field, which gets the focus. `label` names
 * the form, `action` its button.
 */
export function ChangeForm({
  label,
  action,
  change,
  onSubmit,
  children,
}: {
  label: string;
  action: string;
  change: Change;
  onSubmit: () => void;
  children: ComponentChildren;
}): VNode {
  const { problem, isBusy } = change;
  const refusals = problem === undefined ? [] : [problem];
  const { form, isMarked } = useFocusOnRefusal(problem);
  const submitted = (event: SubmitEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return html`<form class="stack" aria-label=${label} ref=${form} onSubmit=${submitted} onInvalidCapture=${showInvalid}>
    ${h(Refusals.Provider, { value: refusals, children })}
    ${problem !== undefined && h(ProblemNotice, { problem, isMarked })}
    <div><button class="primary" disabled=${isBusy}>${isBusy ? 'One moment…' : action}</button></div>
  </form>`;
}

/** A form, and whether one of its fields shows the reason of a refusal. */
interface RefusedForm {
  readonly form: RefObject<HTMLFormElement | null>;
  readonly isMarked: boolean;
}

/** Moves the focus to the refused field, even in a closed part of the form. */
export function useFocusOnRefusal(problem: Problem | undefined): RefusedForm {
  const form = useRef<HTMLFormElement>(null);
  const [isMarked, setMarked] = useState(false);
  useEffect(() => {
    const field = form.current?.querySelector<HTMLElement>('[aria-invalid]') ?? undefined;
    const isRefused = problem !== undefined && field !== undefined;
    setMarked(isRefused);
    if (!isRefused) return;
    openAround(field);
    field.focus();
  }, [problem]);
  return { form, isMarked };
}

/** Opens the part with the invalid field. Inside a closed part the browser would refuse the form without a message. */
function showInvalid({ target }: Event): void {
  if (target instanceof Element) openAround(target);
}

function openAround(field: Element): void {
  const closed = field.closest('details');
  if (closed !== null) closed.open = true;
}

/** Button that opens a dialog to explain, complete and confirm a change. */
export function DialogButton({
  label,
  title = label,
  action = label,
  tone = 'plain',
  onOpen,
  onConfirm,
  children,
}: {
  label: string;
  title?: string;
  action?: string;
  tone?: 'plain' | 'primary' | 'danger';
  /** Called when the dialog opens, for what is loaded only then. */
  onOpen?: () => void;
  /** Performs the change. The dialog closes when it resolves, and shows the problem when it rejects. */
  onConfirm: () => Promise<unknown>;
  children?: ComponentChildren;
}): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const { isBusy, problem, run, clear } = useChange();
  const refusals = problem === undefined ? [] : [problem];
  const { form, isMarked } = useFocusOnRefusal(problem);
  const open = () => {
    clear();
    onOpen?.();
    dialog.current?.showModal();
  };
  const confirmed = async (event: SubmitEvent) => {
    event.preventDefault();
    if (await run(onConfirm)) dialog.current?.close();
  };
  return html`
    <button type="button" class=${tone} onClick=${open}>${label}</button>
    <dialog ref=${dialog} aria-labelledby=${heading}>
      <form class="stack" ref=${form} onSubmit=${confirmed} onInvalidCapture=${showInvalid}>
        <h2 id=${heading}>${title}</h2>
        ${h(Refusals.Provider, { value: refusals, children })}
        ${problem !== undefined && h(ProblemNotice, { problem, isMarked })}
        <div class="row">
          <button class=${tone === 'danger' ? 'danger' : 'primary'} disabled=${isBusy}>
            ${isBusy ? 'One moment…' : action}
          </button>
          <button type="button" onClick=${() => dialog.current?.close()}>Cancel</button>
        </div>
      </form>
    </dialog>
  `;
}

/** Result of a change, announced to screen readers as well. Empty until there is a result. */
export function StatusMessage({ children }: { children?: ComponentChildren }): VNode {
  const isEmpty = toChildArray(children).every(child => child === '');
  return html`<div role="status" class=${isEmpty ? 'visually-hidden' : 'notice good'}>${children}</div>`;
}
