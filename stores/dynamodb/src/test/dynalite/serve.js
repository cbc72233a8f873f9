// Serves dynalite on a port of the loopback; with --tls-port, --cert and --key also over TLS, in front of the same data.
'use strict';

const fs = require('fs');
const net = require('net');
const tls = require('tls');
const options = require('minimist')(process.argv.slice(2));

const HOST = '127.0.0.1';
const { port, path, cert, key } = options;

require('dynalite')({ path, createTableMs: 0 }).listen(port, HOST);

// It throws when a client gives up a request.
process.on('uncaughtException', failure => {
  if (failure.code !== 'ECONNRESET' && failure.message !== 'aborted') {
    throw failure;
  }
});

if (options['tls-port']) {
  tls
    .createServer({ cert: fs.readFileSync(cert), key: fs.readFileSync(key) }, socket => {
      const behind = net.connect(port, HOST);
      const end = () => [socket, behind].forEach(each => each.destroy());
      [socket, behind].forEach(each => each.on('error', end).on('close', end));
      socket.pipe(behind).pipe(socket);
    })
    .on('tlsClientError', (failure, socket) => socket.destroy())
    .listen(options['tls-port'], HOST);
}
