import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import * as regexp from 'eslint-plugin-regexp';
import globals from 'globals';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/.venv/**',
      '**/.tools/**',
      '**/.stryker-tmp/**',
      '**/models/**',
      '**/demo-output/**',
      'packages/client/src/generated/**',
    ],
  },
  js.configs.recommended,
  {
    // Nothing that arrives from outside may hold the event loop: every pattern takes linear time.
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
      // Finds (a|a)+, which the two above take for linear.
      'regexp/no-dupe-disjunctions': [
        'error',
        { report: 'trivial', reportExponentialBacktracking: 'potential' },
      ],
    },
  },
  {
    // What a test looks at is its own.
    files: ['**/test/**'],
    rules: {
      'regexp/no-super-linear-backtracking': 'off',
      'regexp/no-super-linear-move': 'off',
      'regexp/no-dupe-disjunctions': 'off',
    },
  },
  {
    files: ['**/*.{ts,mts}'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      // Declaration merging: an interface that only takes in the members of a table.
      '@typescript-eslint/no-empty-object-type': ['error', { allowInterfaces: 'with-single-extends' }],
      'no-console': 'error',
    },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: { globals: { ...globals.node } },
  },
  { files: ['nginx/html/**/*.js'], languageOptions: { globals: { ...globals.browser } } },
  prettier,
);
