import { copyOnClick } from './copying.ts';
import { startByForm } from './link.ts';
import { followSession } from './session.ts';

const main = document.querySelector('main');
const form = document.querySelector<HTMLFormElement>('#start');
copyOnClick();
// A link that is not available has no form.
if (form !== null) startByForm(form);
if (main?.dataset.page === 'session') followSession(main);
