import { home } from './home.ts';

// A small script, so that the page reads what it shows first while its screens are loaded, not after them.
void import('./pages.tsx');
if (home) void import('./transactions/list.tsx');
