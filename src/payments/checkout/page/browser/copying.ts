const SHOWN_MS = 1_600;

/** Makes every button with `data-copy` copy its text and confirm it, including buttons added later. */
export function copyOnClick(): void {
  document.addEventListener('click', async ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('button[data-copy]') : null;
    if (button === null) return;
    const { copy = '', copied } = button.dataset;
    const said = await navigator.clipboard.writeText(copy).then(
      () => 'Copied',
      () => 'Not copied',
    );
    say(`${said}: ${copied}`);
    const text = button.dataset.text ?? button.textContent;
    button.dataset.text = text;
    button.textContent = said;
    setTimeout(() => {
      button.textContent = text;
    }, SHOWN_MS);
  });
}

/** Shows the buttons that need a script. There is a clipboard on https and on localhost only. */
export function revealButtons(): void {
  if (navigator.clipboard === undefined) return;
  for (const button of document.querySelectorAll<HTMLElement>('button[data-copy]')) button.hidden = false;
}

/** Lets screen readers announce a text that is visible elsewhere. */
export function say(text: string): void {
  const spoken = document.getElementById('spoken');
  if (spoken !== null) spoken.textContent = text;
}
