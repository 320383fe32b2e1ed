/**
 * Ends the program quietly when the reader of standard output goes away, as `head` does. Without this, Node reports
 * EPIPE with a stack trace.
 */
export function endOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}
