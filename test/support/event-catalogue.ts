import { fileURLToPath } from 'node:url';

import { readEventCatalogue } from '../../src/app/routes.ts';

export const EVENT_CATALOGUE = readEventCatalogue(fileURLToPath(new URL('../../docs', import.meta.url)));
