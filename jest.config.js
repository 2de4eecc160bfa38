import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { bundledPackages } from './test/support/packages.js';

// Suites start many processes from the same files.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/{functions,lib,test}/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/test/real/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { ...(await bundledPackages()), '^fast-check$': '<rootDir>/test/support/fast-check.ts' },
  transform: { '\\.ts$': '<rootDir>/test/support/transform.js' },
  restoreMocks: true,
  testTimeout: 300_000, // only to end what hangs: on a busy machine anything may take ten times as long
  maxWorkers: Math.ceil(1.5 * availableParallelism()), // suites wait for a fifth of their time
  // Node keeps the modules of suites that have ended, about 20 MB each: workers grew to 2.4 GB, and took too long to end.
  workerIdleMemoryLimit: '1GB',
  coverageProvider: 'v8',
};
