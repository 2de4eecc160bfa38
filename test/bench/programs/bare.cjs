// What Node alone costs: reads each request and answers 204.
const http = require('node:http');

const server = http.createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(204).end());
});
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  process.stdout.write(`${JSON.stringify({ msg: 'listening', urls: [url] })}\n`);
});
