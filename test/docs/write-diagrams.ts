import { readFileSync, writeFileSync } from 'node:fs';

import { ARCHITECTURE_FILE, withStateDiagrams } from './state-diagrams.ts';

/** `npm run diagrams`: writes the state diagrams of docs/architecture.md from the states.ts files. */
writeFileSync(ARCHITECTURE_FILE, withStateDiagrams(readFileSync(ARCHITECTURE_FILE, 'utf8')));
