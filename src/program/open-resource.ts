interface Closable {
  close(): Promise<void>;
}

/**
 * Registers an open resource for closing. Closes it at once when the process is already stopping.
 * @throws Error when the process is stopping, so that nothing else is opened
 */
export async function keepOpen(opened: Closable, resources: AsyncDisposableStack): Promise<void> {
  if (!resources.disposed) {
    resources.defer(() => opened.close());
    return;
  }
  await opened.close();
  throw new Error('the process was stopped while it was starting');
}
