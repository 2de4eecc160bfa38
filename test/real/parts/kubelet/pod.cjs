// What a container finds in a pod, for a process of this machine that is told to load it: the files of its volumes, ports
// of its own, and the addresses of the cluster. Nothing here knows what the process does.
const fs = require('node:fs');
const net = require('node:net');

/** `mounts`: the place here of each path; `ports`: the port here of each of its own; `routes`: a file, address → port. */
const { mounts, ports, routes } = JSON.parse(process.env['POD_HERE']);

function placeHere(path) {
  const mount = Object.keys(mounts).find((each) => path === each || String(path).startsWith(`${each}/`));
  return mount === undefined ? path : mounts[mount] + path.slice(mount.length);
}

for (const [api, names] of [
  [fs, ['readFileSync', 'accessSync', 'existsSync', 'statSync', 'readFile', 'stat', 'access']],
  [fs.promises, ['readFile', 'stat', 'access']],
]) {
  for (const name of names) {
    const original = api[name];
    api[name] = (path, ...rest) => original.call(api, placeHere(path), ...rest);
  }
}

const { listen } = net.Server.prototype;
net.Server.prototype.listen = function listenHere(options, ...rest) {
  return listen.call(this, { ...options, host: '127.0.0.1', port: ports[options.port] ?? options.port }, ...rest);
};

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function connectHere(...given) {
  const [options, listener] = Array.isArray(given[0]) ? given[0] : given;
  const port = JSON.parse(fs.readFileSync(routes, 'utf8'))[`${options?.host}:${options?.port}`];
  return port === undefined
    ? connect.apply(this, given)
    : connect.call(this, { ...options, host: '127.0.0.1', port }, listener ?? undefined);
};
