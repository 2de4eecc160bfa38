import base from '../../../../../../jest.config.js';

/** The suites of coredns-sync, with a renderer that leaves its texts in the directory RECORDED_RULES. */
export default {
  ...base,
  rootDir: '../../../../../..',
  testMatch: ['<rootDir>/functions/coredns-sync/**/*.test.ts'],
  resolver: '<rootDir>/functions/coredns-sync/test/real/dns/recording/resolver.cjs',
};
