/* The providers, a line for each. Every folder and the pages read them: they have data and no imports of their own. */
export { telebirr } from './telebirr/manifest.ts';
export { cbeBirr } from './cbe-birr/manifest.ts';
export { awash } from './awash/manifest.ts';
export { mpesa } from './mpesa/manifest.ts';
