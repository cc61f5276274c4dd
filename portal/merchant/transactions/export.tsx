import { useState } from 'react';

import { Button } from '../../ui/button.tsx';
import { addressOf } from '../../ui/call.ts';
import { download } from '../../ui/download.ts';
import { failureText } from '../../ui/feedback.tsx';
import { toast } from '../../ui/toast.tsx';
import { headers } from '../routes.ts';
import type { filterOf } from './search.ts';
import { text } from './text.ts';

/** The most rows of a file that is sent at once. */
const ROWS_MAX = 10_000;

type Props = { filter: ReturnType<typeof filterOf>; total: number | undefined };

/** The list's rows as a file, by the very filter of the list. */
export function ExportLink({ filter, total }: Props) {
  const [isBusy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      await download(addressOf('GET /api/checkout/txns/export', { query: filter }), headers);
    } catch (error) {
      toast(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  const whyNot = total !== undefined && total > ROWS_MAX ? text.tooManyRows(ROWS_MAX) : undefined;
  return (
    <Button icon="download" isBusy={isBusy} whyNot={whyNot} onClick={() => void save()}>
      {text.export}
    </Button>
  );
}
