import base from '../../jest.config.js';

/** Real programs: `npm run test:real` builds them first, so that no test waits for a compiler. */
export default {
  ...base,
  rootDir: '../..',
  testMatch: [
    '<rootDir>/{test,functions/*/test}/real/**/*.test.ts',
    '<rootDir>/{functions,test/functions}/*/test/*.test.ts',
  ],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
};
