const { isBuiltin } = require('node:module');

const Runtime = require('jest-runtime').default;

/** These are loaded for each test file: Temporal's worker allows one native runtime, which each file installs. */
const OWN = new Set(['@jest/globals', '@temporalio/worker']);
const isPackage = (name) => /^[@a-z]/i.test(name) && !name.includes(':') && !isBuiltin(name) && !OWN.has(name);

/** Loads the packages. It is never torn down, since a package may load some of its files when it needs them. */
let packages;
let lastImport = Promise.resolve();

/** One at a time, because linking fails for two graphs at once that have a module in common. */
function importPackage(name, from, context) {
  const imported = lastImport.then(async () => {
    const module = await packages.esmLoader.resolveModule(name, from, context);
    return packages.esmLoader.linkAndEvaluateModule(module);
  });
  lastImport = imported.catch(() => {});
  return imported;
}

/**
 * Jest's loader of modules, except that a process loads each package once for all its test files: loading them takes
 * longer than most files. Needs the one context of shared-environment.mjs. Modules of the project are new in each file.
 */
module.exports = class SharedPackages extends Runtime {
  constructor(...options) {
    super(...options);
    packages ??= new Runtime(...options);
    const { esmLoader } = this;
    const resolveModule = esmLoader.resolveModule.bind(esmLoader);
    esmLoader.resolveModule = (name, from, context) =>
      isPackage(name) ? importPackage(name, from, context) : resolveModule(name, from, context);
  }

  requireModuleOrMock(from, name) {
    return isPackage(name) ? packages.requireModuleOrMock(from, name) : super.requireModuleOrMock(from, name);
  }
};
