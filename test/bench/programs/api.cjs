// An API server that knows one ConfigMap and one Ingress, in agreement with each other: a census finds nothing to write.
const { readFileSync } = require('node:fs');
const https = require('node:https');

const { CERT_FILE, KEY_FILE } = process.env;
const metadata = { namespace: 'default', uid: '7f1c7a5e-0000-4000-8000-000000000001', resourceVersion: '1' };
const census = JSON.stringify({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...metadata, name: 'host-census', labels: { app: 'bench' }, annotations: { note: 'x'.repeat(500) } },
  data: { hosts: 'shop.example.com\n', other: 'y'.repeat(2_000) },
});
const ingresses = JSON.stringify({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressList',
  metadata: { resourceVersion: '1' },
  items: [{ metadata: { ...metadata, name: 'shop' }, spec: { rules: [{ host: 'shop.example.com' }] } }],
});

const server = https.createServer(
  { cert: readFileSync(CERT_FILE), key: readFileSync(KEY_FILE) },
  (request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(request.url.includes('/configmaps/') ? census : ingresses);
  },
);
server.keepAliveTimeout = 90_000;
server.listen(0, '127.0.0.1', () => {
  const url = `https://127.0.0.1:${server.address().port}`;
  process.stdout.write(`${JSON.stringify({ msg: 'listening', urls: [url] })}\n`);
});
