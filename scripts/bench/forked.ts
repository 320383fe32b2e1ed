import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs a script in a process of its own and resolves with its first message. @throws Error when it tells no such one */
export function toldBy<Message>(
  script: URL,
  args: readonly string[],
  { isMessage, execArgv = [] }: { isMessage: (value: unknown) => value is Message; execArgv?: string[] },
): Promise<Message> {
  const child = fork(fileURLToPath(script), args, {
    execArgv,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the process ended with ${code}`)));
    child.once('message', message => {
      if (isMessage(message)) resolve(message);
      else reject(new Error('the process told something else'));
    });
  });
}
