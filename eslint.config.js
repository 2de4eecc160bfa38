import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import ts from 'typescript-eslint';

const otherFunction = { regex: '^\\.\\./[^.]', message: 'A function may not import another function.' };
/** The same rule from a folder inside a function, whose neighbours are its own. */
const otherFunctionFromFolder = { ...otherFunction, regex: '^\\.\\./\\.\\./[^.]' };
const testCode = { regex: '(^|/)test/', message: 'Shipped code may not import tests.' };
const anyFunction = {
  regex: '(^|/)functions/',
  message: 'lib may not import a function; the command line finds them by folder.',
};
const effects = [
  ...['node:fs', 'node:fs/promises', 'node:http', 'node:https', 'node:net', 'node:child_process', 'node:crypto'],
  ...['express', 'pino', 'cloudevents', 'prom-client', '@kubernetes/client-node'],
].map((name) => ({ name, message: 'Decisions are pure: no effects.' }));
const clientAsCode = {
  name: '@kubernetes/client-node',
  message: 'Only lib/kube loads the client; elsewhere use `import type`.',
  allowTypeImports: true,
};

/** Parts of lib that must not know each other; main.ts and cli/ wire them together. */
const islands = ['kube', 'http', 'work', 'tls', 'source', 'sandbox'];

function island(name) {
  const others = islands.filter((other) => other !== name && !(name === 'source' && other === 'kube')).join('|');
  return {
    files: [`lib/${name}/**/*.ts`],
    ignores: ['**/*.test.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: name === 'kube' ? [] : [clientAsCode],
          patterns: [
            anyFunction,
            testCode,
            {
              regex: `^(\\.\\./)+(?!kube/(selector|resource)\\.ts)(${others})/`, // those two are pure
              message: `lib/${name} may not import its neighbours as code; lib/main.ts and lib/cli wire them.`,
              allowTypeImports: true,
            },
            { regex: '^(\\.\\./)+(main\\.ts|cli/)', message: 'Only entry points import the wiring.' },
          ],
        },
      ],
    },
  };
}

/** Decisions see plain data only: no client, clock, environment, log or chance. */
function pure(files, patterns) {
  return {
    files,
    ignores: ['**/*.test.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: effects.map((path) => ({ ...path, allowTypeImports: true })),
          patterns: [
            ...patterns,
            { regex: 'lib/(http|work|tls|source|sandbox|cli|main)', message: 'Decisions are pure: no effects.' },
          ],
        },
      ],
      'no-restricted-globals': [
        'error',
        'fetch',
        'setTimeout',
        'setInterval',
        'setImmediate',
        'process',
        'performance',
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now' },
        { object: 'Math', property: 'random' },
      ],
    },
  };
}

export default defineConfig(
  { ignores: ['dist/', 'coverage/', '.sandbox/'] },
  {
    files: ['**/*.{js,cjs}'],
    ...js.configs.recommended,
    languageOptions: { globals: { process: 'readonly', require: 'readonly', console: 'readonly' } },
  },
  {
    files: ['**/*.ts'],
    extends: [js.configs.recommended, ts.configs.strictTypeChecked, ts.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/dot-notation': 'off', // tsc wants brackets on index signatures
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-invalid-void-type': 'off', // Promise.withResolvers<void>()
      'func-style': ['error', 'declaration', { allowArrowFunctions: false }],
      'no-console': 'error',
      complexity: ['error', { max: 10, variant: 'modified' }],
      'max-depth': ['error', 3],
      'max-params': ['error', 4],
      'no-restricted-syntax': [
        'error',
        {
          selector: "ImportDeclaration[source.value='zod'] > ImportSpecifier[imported.name='z']",
          message: "import * as z from 'zod': the named import is not tree-shaken.",
        },
        {
          selector: "MemberExpression[object.name='process'][property.name='env']",
          message: 'Read the environment once at the entry point and pass it on.',
        },
      ],
    },
  },
  {
    files: ['lib/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { paths: [clientAsCode], patterns: [anyFunction, testCode] },
      ],
    },
  },
  ...islands.map(island),
  {
    files: ['functions/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { paths: [clientAsCode], patterns: [otherFunction, testCode] },
      ],
    },
  },
  {
    files: ['functions/*/*/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { paths: [clientAsCode], patterns: [otherFunctionFromFolder, testCode] },
      ],
    },
  },
  pure(['functions/*/{plan,decide,schedule,render}*.ts'], [otherFunction, testCode]),
  pure(
    ['functions/*/*/{plan,decide,schedule,render}*.ts', 'functions/*/render/*.ts'],
    [otherFunctionFromFolder, testCode],
  ),
  pure(
    ['lib/function/{plan,failure}.ts', 'lib/kube/{selector,wire,quantity}.ts', 'lib/time/*.ts'],
    [anyFunction, testCode],
  ),
  {
    files: ['lib/main.ts', 'lib/cli/**/*.ts', 'test/**/*.ts', 'deploy/select.ts', 'deploy/try/image.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  { files: ['lib/cli/**/*.ts', 'test/bench/**/*.ts', 'deploy/warm.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['**/*.test.ts'],
    rules: { '@typescript-eslint/explicit-module-boundary-types': 'off', 'max-params': 'off' },
  },
);
