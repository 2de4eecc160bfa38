// The floor of a webhook: node:https parses the review and answers it with a constant patch.
const { readFileSync } = require('node:fs');
const { Buffer } = require('node:buffer');
const { join } = require('node:path');
const https = require('node:https');

const { CERT_DIR, PATCH } = process.env;
const patch = Buffer.from(PATCH).toString('base64');

const server = https.createServer(
  {
    cert: readFileSync(join(CERT_DIR, 'tls.crt')),
    key: readFileSync(join(CERT_DIR, 'tls.key')),
    minVersion: 'TLSv1.3',
  },
  (request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { apiVersion, kind, request: asked } = JSON.parse(Buffer.concat(chunks).toString());
      const answer = { uid: asked.uid, allowed: true, patchType: 'JSONPatch', patch };
      const text = JSON.stringify({ kind, apiVersion, response: answer });
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      response.end(text);
    });
  },
);
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  const url = `https://127.0.0.1:${server.address().port}`;
  process.stdout.write(`${JSON.stringify({ msg: 'listening', urls: [url] })}\n`);
});
