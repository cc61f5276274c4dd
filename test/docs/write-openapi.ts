import { writeFileSync } from 'node:fs';

import { CONTRACT_FILE, contractText } from './document.ts';

/** `npm run openapi`: writes docs/openapi.json from the routes. */
writeFileSync(CONTRACT_FILE, contractText());
