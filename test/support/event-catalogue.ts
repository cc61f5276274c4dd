import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

import { readEventCatalogue } from '../../src/app/routes.ts';

/** From the sources, and from the bench's compiled copy. */
const DOCS = ['../../docs', '../../../docs'].map((folder) => resolve(import.meta.dirname, folder));

export const EVENT_CATALOGUE = readEventCatalogue(DOCS.find(existsSync) ?? '');
export type EventName = keyof typeof EVENT_CATALOGUE;
