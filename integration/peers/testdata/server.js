// The health service on nothing but Node's http2. Arguments: a certificate and its key, both PEM, the certificate also
// being the CA of clients. Prints a line "NAME ADDRESS" for each listener, then "ready".
'use strict';
const fs = require('node:fs');
const http2 = require('node:http2');
const zlib = require('node:zlib');
const { once } = require('node:events');

const grpc = { ':status': 200, 'content-type': 'application/grpc' };
const statuses = new Map([['', 1], ['down', 2]]); // SERVING, NOT_SERVING

// The message of a request is after five bytes: whether it is compressed, and its length.
async function read(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const message = body.subarray(5);
  return body[0] ? zlib.gunzipSync(message) : message;
}

async function check(stream, headers) {
  if (headers[':path'] !== '/grpc.health.v1.Health/Check') {
    stream.respond({ ...grpc, 'grpc-status': 12, 'grpc-message': 'unknown method' }, { endStream: true });
    return;
  }
  const service = (await read(stream)).subarray(2).toString(); // field 1: a tag, a length under 128, the name
  if (service === 'slow') return;
  if (!statuses.has(service)) {
    stream.respond({ ...grpc, 'grpc-status': 5, 'grpc-message': 'unknown%20service' }, { endStream: true });
    return;
  }
  stream.respond(grpc, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }));
  stream.end(Buffer.from([0, 0, 0, 0, 2, 8, statuses.get(service)]));
}

async function listen(name, server, onStream) {
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {}); // a probe that gave up
    onStream(stream, headers);
  });
  server.on('sessionError', () => {}); // a client that speaks something else
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  console.log(name, `127.0.0.1:${server.address().port}`);
}

async function main([certPath, keyPath]) {
  const cert = fs.readFileSync(certPath);
  const tls = { cert, key: fs.readFileSync(keyPath) };
  await listen('plain', http2.createServer(), check);
  await listen('tls', http2.createSecureServer(tls), check);
  await listen('mtls', http2.createSecureServer({ ...tls, ca: cert, requestCert: true, rejectUnauthorized: true }), check);
  // As little as HTTP/2 lets a server allow.
  const settings = { initialWindowSize: 1, maxConcurrentStreams: 1, headerTableSize: 0, maxFrameSize: 16384 };
  await listen('tight', http2.createServer({ settings }), check);
  await listen('bare', http2.createServer(), (stream) => {
    stream.respond({ ':status': 404, 'content-type': 'text/plain' });
    stream.end('not found');
  });
  console.log('ready');
}

main(process.argv.slice(2));
