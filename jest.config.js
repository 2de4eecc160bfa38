export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/{functions,lib,test}/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/real/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/transform.js' },
  restoreMocks: true,
  testTimeout: 60_000,
  maxWorkers: '100%',
  coverageProvider: 'v8',
  collectCoverageFrom: ['functions/**/*.ts', 'lib/**/*.ts', '!**/*.test.ts'],
  coverageThreshold: { './functions/*/{plan,decide}.ts': { branches: 85, lines: 100 } },
};
