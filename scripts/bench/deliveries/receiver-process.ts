/**
 * Receives deliveries in a separate process. Answers 204 at once, and never below `/hang`. Reports its address over
 * IPC, and on request the time (UTC ms) of the first arrival of each event. Ends when its parent disconnects or is
 * killed.
 */
import { createServer } from 'node:http';

const times = new Map<string, number>();
const server = createServer((request, response) => {
  request.resume();
  if (request.url?.startsWith('/hang')) return;
  request.once('end', () => {
    const eventId = String(request.headers['x-service-event-id']);
    if (!times.has(eventId)) times.set(eventId, Date.now());
    response.writeHead(204).end();
  });
});

server.listen(0, '127.0.0.1', () => {
  const bound = server.address();
  if (bound !== null && typeof bound === 'object') process.send?.({ url: `http://127.0.0.1:${bound.port}` });
});
process.on('message', message => {
  if (message === 'times') process.send?.({ times: Object.fromEntries(times) });
});
process.once('disconnect', () => process.exit());
