/**
 * The backends of the quick start: hello, blue and green speak HTTP and answer their name and what they saw; echo is TCP.
 * Their own program, started by start.mjs only; no part of Weirgate. Ends when its parent goes.
 *
 *     node demo.mjs [FIRST-PORT]          four ports from there on loopback (18081)
 */
import { createServer as createHttpServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';

const firstPort = Number(process.argv[2] ?? 18081);

function answer(name, request, response) {
  const seen = ['host', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host']
    .filter((field) => request.headers[field] !== undefined)
    .map((field) => `${field}: ${request.headers[field]}`);
  const text = [`backend: ${name}`, `request: ${request.method} ${request.url}`, ...seen, ''].join('\n');
  request.resume();
  response.writeHead(200, { 'content-type': 'text/plain', 'x-backend': name }).end(text);
}

const servers = [
  ...['hello', 'blue', 'green'].map((name) => createHttpServer((request, response) => answer(name, request, response))),
  createTcpServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => socket.destroy()).pipe(socket)),
];

// Ctrl-C reaches the whole terminal group; these stay until Weirgate has drained and the parent says so.
process.on('SIGINT', () => {});
process.on('disconnect', () => process.exit(0));

let listening = 0;
servers.forEach((server, i) => {
  server.on('error', (error) => {
    process.stderr.write(`demo backend on 127.0.0.1:${firstPort + i}: ${error.message}\n`);
    process.exit(1);
  });
  server.listen(firstPort + i, '127.0.0.1', () => {
    listening += 1;
    if (listening === servers.length) process.send?.('ready');
  });
});
