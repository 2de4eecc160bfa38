export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/{functions,lib,test}/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/test/real/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^fast-check$': '<rootDir>/test/support/fast-check.ts' },
  transform: { '\\.ts$': '<rootDir>/test/support/transform.js' },
  restoreMocks: true,
  testTimeout: 300_000, // only to end what hangs: on a busy machine anything may take ten times as long
  maxWorkers: '100%',
  coverageProvider: 'v8',
  collectCoverageFrom: ['functions/**/*.ts', 'lib/**/*.ts', '!**/*.test.ts'],
  coverageThreshold: { './functions/*/{plan,decide}.ts': { branches: 85, lines: 100 } },
};
