import { say } from './copying.ts';

const SECOND_MS = 1_000;
/** Minutes before the end that screen readers announce. */
const SAID = [5, 1];
const SOON_SECONDS = 120;

let timer: ReturnType<typeof setInterval> | undefined;

/**
 * Counts down in an element with `data-left-ms`. Uses the monotonic clock, because the date of this machine may be
 * wrong.
 */
export function showCountdown(element: HTMLElement | null): void {
  clearInterval(timer);
  if (element === null) return;
  const end = performance.now() + Number(element.dataset.leftMs);
  let said = Number.POSITIVE_INFINITY;
  const tick = () => {
    const seconds = Math.max(0, Math.ceil((end - performance.now()) / SECOND_MS));
    element.textContent = clockText(seconds);
    element.classList.toggle('soon', seconds <= SOON_SECONDS);
    const minutes = SAID.find(one => seconds <= one * 60 && seconds > (one - 1) * 60 && one < said);
    if (minutes !== undefined) {
      said = minutes;
      say(`${minutes} ${minutes === 1 ? 'minute' : 'minutes'} left to pay`);
    }
    if (seconds === 0) clearInterval(timer);
  };
  tick();
  timer = setInterval(tick, SECOND_MS);
}

function clockText(seconds: number): string {
  const two = (number: number) => String(number).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = `${two(minutes)}:${two(seconds % 60)}`;
  return hours === 0 ? rest : `${hours}:${rest}`;
}
