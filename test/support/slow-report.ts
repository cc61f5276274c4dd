import { setTimeout as sleep } from 'node:timers/promises';

import { openDatabase } from '../../src/lib/db.ts';
import { createTransactionRunner } from '../../src/outbox/record.ts';
import { createReportFiles } from '../../src/reports/files.ts';
import { createGenerateReport } from '../../src/reports/generate.ts';

/** A process that generates a report slowly, row by row, to be killed. Arguments: database URL, folder, report id. */
const [url = '', folder = '', reportId = ''] = process.argv.slice(2);
const db = openDatabase({ url, poolMax: 3, applicationName: 'slow-report' });
const files = createReportFiles(folder);
const generate = createGenerateReport({
  db,
  runInTransaction: createTransactionRunner(db, () => {}),
  clock: () => new Date(),
  baseUrl: 'https://checkout.example',
  pageRows: 1,
  files: {
    ...files,
    write: async (chunks) =>
      files.write(
        (async function* () {
          for await (const chunk of chunks) {
            yield chunk;
            process.stdout.write('a chunk is written\n');
            await sleep(1_000);
          }
        })(),
      ),
  },
});
await generate(reportId);
