/**
 * Checks the licence of every runtime package: `npm run licences`. Prints packages without an allowed licence and exits
 * with 1 when there are any. Reads the lock file, so that packages for other systems are checked too.
 */
import { readFileSync } from 'node:fs';
import { isObject } from '../src/lib/json.ts';

/** Licences, by SPDX identifier, that require only a notice. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'PSF-2.0',
];
/** Folder of installed packages; the rest of a key is the package name. */
const FOLDER = 'node_modules/';

const licences = runtimeLicences(JSON.parse(readFileSync(process.argv[2] ?? 'package-lock.json', 'utf8')));
const refused = licences.filter(({ licence }) => !isAllowed(licence));
for (const { name, licence } of refused) console.error(`${name}: ${licence}`);
console.log(`${licences.length} runtime packages, ${refused.length} without an allowed licence`);
if (refused.length > 0) process.exitCode = 1;

/** Runtime packages of a lock file. @throws Error when it lists none */
function runtimeLicences(lock: unknown): { name: string; licence: string }[] {
  const packages = isObject(lock) && isObject(lock.packages) ? Object.entries(lock.packages) : [];
  const found = packages.flatMap(([path, entry]) => {
    if (!path.includes(FOLDER) || !isObject(entry) || entry.dev === true) return [];
    const name = path.slice(path.lastIndexOf(FOLDER) + FOLDER.length);
    return [{ name, licence: typeof entry.license === 'string' ? entry.license : 'no licence given' }];
  });
  if (found.length === 0) throw new Error('The lock file lists no runtime packages.');
  return found;
}

/** True when an SPDX expression allows us to use only allowed licences. */
function isAllowed(expression: string): boolean {
  // From the inside out, each group in parentheses becomes a licence that is allowed or not.
  const open = expression.replace(/\(([^()]*)\)/g, (_, group: string) =>
    isAllowed(group) ? 'MIT' : 'refused',
  );
  if (open !== expression) return isAllowed(open);
  return expression.split(' OR ').some(choice => choice.split(' AND ').every(name => ALLOWED.includes(name)));
}
