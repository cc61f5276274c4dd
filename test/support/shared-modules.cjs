const { dirname, resolve, sep } = require('node:path');
const { isBuiltin } = require('node:module');

const Runtime = require('jest-runtime').default;

const PROJECT = resolve(__dirname, '../..');
const PRODUCT = ['src', 'workflows', 'activities'].map((folder) => resolve(PROJECT, folder) + sep);

/** Of each test file: it has the state of its tests. */
const OWN = new Set(['@jest/globals']);
const isPackage = (name) => /^[@a-z]/i.test(name) && !name.includes(':') && !isBuiltin(name) && !OWN.has(name);
const isProduct = (name, from) =>
  name.startsWith('.') && PRODUCT.some((folder) => resolve(dirname(from), name).startsWith(folder));

/** Loads what is shared. It is never torn down, since a package may load some of its files when it needs them. */
let shared;
let lastImport = Promise.resolve();

/** One at a time, because linking fails for two graphs at once that have a module in common. */
function importShared(name, from, context) {
  const imported = lastImport.then(async () => {
    const module = await shared.esmLoader.resolveModule(name, from, context);
    return shared.esmLoader.linkAndEvaluateModule(module);
  });
  lastImport = imported.catch(() => {});
  return imported;
}

/**
 * Jest's loader of modules, except that a process loads packages and the product's modules once for all its test files:
 * loading them takes longer than most files. Needs the one context of shared-environment.mjs. The tests' own modules are
 * new in each file; so are the product's while files are watched, because they change, and where coverage is measured.
 */
module.exports = class SharedModules extends Runtime {
  constructor(...options) {
    super(...options);
    const { watch, watchAll, collectCoverage } = options.at(-1);
    const sharesProduct = !(watch || watchAll || collectCoverage);
    shared ??= new Runtime(...options);
    const { esmLoader } = this;
    const resolveModule = esmLoader.resolveModule.bind(esmLoader);
    esmLoader.resolveModule = (name, from, context) =>
      isPackage(name) || (sharesProduct && isProduct(name, from))
        ? importShared(name, from, context)
        : resolveModule(name, from, context);
  }

  requireModuleOrMock(from, name) {
    return isPackage(name) ? shared.requireModuleOrMock(from, name) : super.requireModuleOrMock(from, name);
  }
};
