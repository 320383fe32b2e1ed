const SHOWN_MS = 1600;

/** Makes every button with `data-copy` copy that text and say so, also those that come later. */
export function copyOnClick() {
  document.addEventListener('click', async event => {
    const button = event.target instanceof Element ? event.target.closest('button[data-copy]') : null;
    if (button === null) return;
    const said = await navigator.clipboard.writeText(button.dataset.copy).then(
      () => 'Copied',
      () => 'Not copied',
    );
    say(`${said}: ${button.dataset.copied}`);
    const text = button.dataset.text ?? button.textContent;
    button.dataset.text = text;
    button.textContent = said;
    setTimeout(() => {
      button.textContent = text;
    }, SHOWN_MS);
  });
}

/** Shows what works with scripts only. The clipboard is there on https and on this machine itself. */
export function revealButtons() {
  if (navigator.clipboard === undefined) return;
  for (const button of document.querySelectorAll('button[data-copy]')) button.hidden = false;
}

/** Lets screen readers say a text that is seen elsewhere. */
export function say(text) {
  const spoken = document.getElementById('spoken');
  if (spoken !== null) spoken.textContent = text;
}
