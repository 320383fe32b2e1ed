import { copyOnClick } from './copying.js';
import { startByForm } from './link.js';
import { followSession } from './session.js';

const page = document.querySelector('main')?.dataset.page;
copyOnClick();
if (page === 'link') startByForm(document.getElementById('start'));
if (page === 'session') followSession();
