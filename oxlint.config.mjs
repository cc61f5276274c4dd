/** Slices from low to high: each may import those on the lines above its own, and what is named beside it. */
const TIERS = [
  ['merchants', 'keys', 'calendar'],
  ['channels', 'kyc', 'bank-accounts', 'ledger', 'webhooks', 'providers'],
  ['transactions'],
  ['checkout', 'withdrawals', 'settlements'],
  ['reports', 'operators', 'reconciliation'],
];
const BESIDE = {
  keys: ['merchants'],
  channels: ['providers'],
  ledger: ['providers'],
  operators: ['reconciliation', 'reports'],
};

/** Of what is imported by a relative path, these and nothing else. */
const only = (paths, message) => ({ group: ['../**', ...paths.map((path) => `!${path}`)], message });
/** A slice's own affairs. An expression, and first: what a negated group lets pass, no later group refuses. */
const insides = (names) => ({
  regex: `/(${names.join('|')})/(model|routes|schema|present)[.]ts$`,
  message: "another slice's rows, routes and schemas are its own",
  allowTypeImports: true,
});
const never = (packages, message) => ({ group: packages, message });
const imports = (files, ...patterns) => ({ files, rules: { 'no-restricted-imports': ['error', { patterns }] } });

const KOA = ['koa', '@koa/*'];
const DATABASE = ['knex', 'pg', 'objection'];
const TEMPORAL = ['@temporalio/*'];

const slices = TIERS.flatMap((tier, index) =>
  tier.flatMap((slice) => {
    const known = [...TIERS.slice(0, index).flat(), ...(BESIDE[slice] ?? [])];
    const own = (files, up, inside) =>
      imports(
        files,
        insides(known),
        only(
          [...inside, ...['lib', 'http', ...known].map((name) => `${up}/${name}/**`)],
          'a slice imports lib, http and lower slices; all else it is given as functions',
        ),
        never(TEMPORAL, 'slices never talk to Temporal'),
      );
    // A folder inside a slice also imports what lies beside it.
    return [own([`src/${slice}/**`], '..', []), own([`src/${slice}/*/**`], '../..', ['../*.ts'])];
  }),
);

/** Who may import what: the table of CONTRIBUTING.md. */
const importTable = [
  imports(
    ['workflows/**'],
    never(
      ['node:*', 'zod', ...KOA, ...DATABASE, 'undici', 'pino', '@temporalio/client', '@temporalio/worker'],
      'workflow code does no I/O and no validation',
    ),
    { group: ['**/activities/**'], message: 'workflows know activities by their types only', allowTypeImports: true },
    {
      group: ['**/src/**', '!**/src/*/states.ts', '!**/src/lib/money.ts'],
      message: 'workflows take values only from states.ts and lib/money.ts',
      allowTypeImports: true,
    },
  ),
  imports(
    ['activities/**'],
    insides(['[a-z]+']),
    {
      regex: '^[.][.]/src/(local|seed|simulator|demo-shop|sdk|http)/',
      message: 'activities call the operations of slices',
    },
    only(['../src/*/**'], 'activities call the operations of slices, not the roots that construct things'),
    never([...KOA, ...DATABASE], 'activities are thin: call an operation'),
  ),
  ...slices,
  imports(['src/lib/**'], only([], 'lib imports nothing of ours'), never([...KOA, ...TEMPORAL], 'lib knows neither')),
  imports(
    ['src/http/**'],
    only(['../lib/**'], 'http imports only lib'),
    never(TEMPORAL, 'http does not know Temporal'),
  ),
  imports(
    ['src/simulator/**', 'src/demo-shop/**'],
    only(['../lib/**', '../sdk/**'], 'the simulator and the demo shop are outsiders: lib and sdk only'),
    never(TEMPORAL, 'outsiders do not know Temporal'),
  ),
  imports(['src/sdk/**'], { group: ['*', '!./*', '!node:crypto'], message: 'the sdk imports itself and node:crypto' }),
  imports(['src/processes.ts', 'src/relay.ts', 'src/outbox-notifications.ts', 'src/repair.ts'], {
    regex: `^[.]/(${TIERS.flat()
      .filter((slice) => slice !== 'webhooks')
      .join('|')})/`,
    message: 'of the slices only webhooks is known here',
  }),
];

export default {
  plugins: ['typescript', 'import', 'node', 'promise', 'unicorn'],
  categories: { correctness: 'error', suspicious: 'off' },
  ignorePatterns: ['dist', 'node_modules', '.data'],
  rules: {
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/unbound-method': 'off',
    'typescript/no-unnecessary-type-assertion': 'off',
    'typescript/await-thenable': 'error',
    'node/no-process-env': 'error',
    'no-console': 'error',
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',
    'max-lines': ['error', { max: 300 }],
    'max-lines-per-function': ['error', { max: 70 }],
    'max-params': ['error', { max: 3 }],
    eqeqeq: 'error',
    'no-unused-vars': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
  },
  overrides: [
    ...importTable,
    { files: ['src/config.ts'], rules: { 'node/no-process-env': 'off' } },
    { files: ['*.mjs', 'test/**/*.mjs'], rules: { 'import/no-default-export': 'off' } },
    {
      files: ['test/**', 'jest.config.mjs', 'scripts/**'],
      rules: {
        'node/no-process-env': 'off',
        'no-console': 'off',
        'max-lines-per-function': 'off',
        'typescript/restrict-template-expressions': 'off',
      },
    },
  ],
};
