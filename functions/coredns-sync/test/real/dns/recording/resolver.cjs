const { dirname } = require('node:path');

const real = require.resolve('../../../../render/render.ts');
const recording = require.resolve('./render.ts');

/** Everybody who asks for the renderer of coredns-sync gets the one that records, which alone gets the real one. */
module.exports = (request, options) => {
  const found = options.defaultResolver(request, options);
  return found === real && options.basedir !== dirname(recording) ? recording : found;
};
