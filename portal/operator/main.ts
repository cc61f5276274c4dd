import { base } from '../ui/environment.ts';
import './me.ts';

// Addresses without an environment, as in links of workflows: what is of the other one has a link to it.
if (!/^[/](?:test|live)(?:[/]|$)/.test(location.pathname)) location.replace(base + location.pathname + location.search);

// A small script, so that the page reads the person while its screens are loaded, not after them.
void import('./pages.tsx');
