import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import ts from 'typescript-eslint';
import { effectRooms, forbiddenFor, pureFolders, rows, unmoved } from './test/architecture/floor-plan.js';

const suites = ['**/*.test.ts', '**/testing/**', 'functions/*/test/**', 'lib/sandbox/test/**'];

const testCode = { regex: '^(\\.\\./)+test/|/test/', message: 'Shipped code may not import tests.' };
const anyFunction = {
  regex: '(^|/)functions/',
  message: 'lib may not import a function; the command line finds them by folder.',
};
const clientAsCode = {
  name: '@kubernetes/client-node',
  message: 'Only lib/kube loads the client; elsewhere use `import type`.',
  allowTypeImports: true,
};

function restricted(files, paths, patterns) {
  return {
    files,
    ignores: suites,
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { paths, patterns }] },
  };
}

/** A layer of lib imports only layers above it in the floor plan. */
function layer(name) {
  const below = forbiddenFor(name);
  const upwards =
    below.length === 0
      ? []
      : [
          {
            regex: `^(\\.\\./)+(${below.join('|')})/`,
            message: `lib/${name} may import only layers above it; see Layers in lib/README.md.`,
          },
        ];
  return restricted([`lib/${name}/**/*.ts`], name === 'kube' ? [] : [clientAsCode], [
    anyFunction,
    testCode,
    ...upwards,
  ]);
}

/** A function imports lib and itself; `depth` is how many folders below its root the file is. */
function functionAt(depth) {
  const folders = '*/'.repeat(depth);
  return restricted(
    [`functions/*/${folders}*.ts`],
    [clientAsCode],
    [testCode, { regex: `^(\\.\\./){${depth + 1}}[^.]`, message: 'A function may not import another function.' }],
  );
}

/** Decisions see plain data only: no client, clock, environment, log or chance. */
const pure = {
  files: [...pureFolders.map((folder) => `${folder}/**/*.ts`), 'functions/*/*/**/*.ts'],
  ignores: [
    ...suites,
    ...effectRooms.map((room) => `functions/*/${room}/**`),
    ...unmoved.map((name) => `functions/${name}/**`),
  ],
  rules: {
    'no-restricted-globals': [
      'error',
      ...['fetch', 'setTimeout', 'setInterval', 'setImmediate', 'process', 'performance'].map((name) => ({
        name,
        message: 'Decisions are pure: no effects.',
      })),
    ],
    'no-restricted-properties': [
      'error',
      { object: 'Date', property: 'now', message: 'Decisions are pure: time is a parameter.' },
      { object: 'Math', property: 'random', message: 'Decisions are pure: no chance.' },
    ],
  },
};

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
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/dot-notation': 'off', // tsc wants brackets on index signatures
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unsafe-enum-assignment': 'off', // no enums here, and a tenth of the time
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
  ...rows.flat().map(layer),
  ...[0, 1, 2].map(functionAt),
  pure,
  {
    files: [
      'lib/runtime/main.ts',
      'lib/programs/**/*.ts',
      'lib/cli/**/*.ts',
      'test/**/*.ts',
      'functions/*/test/**/*.ts',
      'lib/sandbox/test/**/*.ts',
      'deploy/select.ts',
      'deploy/try/image.ts',
    ],
    rules: { 'no-restricted-syntax': 'off' },
  },
  { files: ['lib/cli/**/*.ts', 'test/bench/**/*.ts', 'deploy/warm.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['**/*.test.ts'],
    rules: { '@typescript-eslint/explicit-module-boundary-types': 'off', 'max-params': 'off' },
  },
);
