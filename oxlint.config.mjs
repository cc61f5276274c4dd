/** The rooms of `src`, from low to high: each may import those before its own line. */
export const ORDER = [
  ['lib'],
  ['outbox'],
  ['http'],
  ['access'],
  ['merchants'],
  ['providers'],
  ['ledger', 'webhooks'],
  ['payments'],
  ['payouts'],
  ['settlements'],
  ['reconciliation', 'reports'],
  ['backoffice', 'portal'],
  ['temporal'],
  ['sandbox'],
  ['demo'],
  ['app'],
  ['local'],
];
const SLICES = [
  'access',
  'merchants',
  'providers',
  'ledger',
  'webhooks',
  'payments',
  'payouts',
  'settlements',
  'reconciliation',
  'reports',
  'backoffice',
  'portal',
];

/** Imports of these rooms by a relative path, except these files of providers. (A regex of oxlint has no lookahead.) */
const rooms = (names, message, open = ['manifests.ts', 'manifest.ts']) => [
  {
    regex: `^(?:[.]{2}/)+(?:src/)?(?:${names.filter((name) => name !== 'providers').join('|')})/`,
    message,
  },
  ...(names.includes('providers')
    ? [{ group: ['**/providers/**', ...open.map((file) => `!**/providers/${file}`)], message }]
    : []),
];
/** A slice's own affairs: its rows, routes and shapes. */
const insides = {
  regex: `^(?:[.]{2}/)+(?:src/)?(?:${SLICES.join('|')})/(?:[a-z-]+/)*(?:model|routes|operator-routes|schema|present)[.]ts$`,
  message: "another slice's rows, routes and schemas are its own",
  allowTypeImports: true,
};
const never = (packages, message) => ({ group: packages, message });
const imports = (files, ...patterns) => ({ files, rules: { 'no-restricted-imports': ['error', { patterns }] } });

const KOA = ['koa', '@koa/*'];
const DATABASE = ['knex', 'pg', 'objection'];
const TEMPORAL = ['@temporalio/*'];
const NO_TEMPORAL = never(TEMPORAL, 'only workflows, activities and src/temporal know Temporal');
const NO_ROOTS = {
  regex: '^(?:[.]{2}/)+(?:src/)?(?:config|cli)[.]ts$|^(?:[.]{2}/)+(?:workflows|activities|test)/',
  message: 'settings, workflows and activities are given as arguments',
};

const above = (room) => {
  const tier = ORDER.findIndex((names) => names.includes(room));
  return ORDER.slice(tier)
    .flat()
    .filter((name) => name !== room);
};
/** `inner` of another slice is closed to a slice, whose own is reached by shorter paths than `../<slice>/`. */
const roomRules = ORDER.flat().map((room) =>
  imports(
    [`src/${room}/**`],
    ...(above(room).length > 0 ? rooms(above(room), 'a room imports those below it (CONTRIBUTING.md)') : []),
    // The back office and the portal present other slices' resources together.
    ...(SLICES.includes(room) && !['backoffice', 'portal'].includes(room) ? [insides] : []),
    ...(['temporal', 'app', 'local', 'demo'].includes(room) ? [] : [NO_TEMPORAL, NO_ROOTS]),
  ),
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
      group: ['**/src/**', '!**/src/**/states.ts', '!**/src/lib/money.ts', '!**/src/lib/sandbox-review.ts'],
      message: 'workflows take values only from states.ts, lib/money.ts and lib/sandbox-review.ts',
      allowTypeImports: true,
    },
  ),
  imports(
    ['activities/**'],
    insides,
    ...rooms(
      ['local', 'demo', 'sandbox', 'sdk', 'http', 'app', 'temporal'],
      'activities call the operations of slices',
    ),
    { regex: '^[.][.]/(?:src/[a-z]+[.]ts|workflows/)', message: 'activities call the operations of slices' },
    never([...KOA, ...DATABASE], 'activities are thin: call an operation'),
  ),
  ...roomRules,
  imports(
    ['src/sandbox/**', 'src/demo/shop/**'],
    ...rooms(
      ORDER.flat().filter((name) => !['lib', 'sandbox'].includes(name)),
      'the simulator and the demo shop are outsiders: lib and sdk, and what a provider publishes',
      ['manifests.ts', 'manifest.ts', '*/signing.ts'],
    ),
    NO_TEMPORAL,
    NO_ROOTS,
  ),
  imports(
    ['portal/**'],
    {
      group: [
        ...['src', 'workflows', 'activities'].map((root) => `**/${root}/**`),
        ...['states', 'channel', 'banks', 'dates'].map((name) => `!**/src/**/${name}.ts`),
      ],
      message: 'pages take types only, and values from states.ts, channel.ts, banks.ts and dates.ts',
      allowTypeImports: true,
    },
    { group: ['**/merchant/**', '**/operator/**'], message: 'the entries share ui/ and nothing else' },
  ),
  imports(['src/providers/manifest.ts', 'src/providers/manifests.ts', 'src/providers/*/manifest.ts'], {
    group: ['*', '!./*/manifest.ts', '!../manifest.ts', '!../*/manifest.ts'],
    message: 'a manifest is data: every room and the pages read it',
  }),
  imports(['src/sdk/**'], { group: ['*', '!./*', '!node:crypto'], message: 'the sdk imports itself and node:crypto' }),
];

export default {
  jsPlugins: ['./scripts/lint/glossary.mjs'],
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
    'glossary/no-old-words': 'error',
    eqeqeq: 'error',
    'no-unused-vars': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
  },
  overrides: [
    ...importTable,
    { files: ['portal/**'], plugins: ['react', 'typescript', 'import', 'promise', 'unicorn'] },
    { files: ['src/config.ts', 'src/local/connection.ts'], rules: { 'node/no-process-env': 'off' } },
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
