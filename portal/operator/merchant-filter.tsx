import { useState } from 'react';

import { Button } from '../ui/button.tsx';
import { Loaded } from '../ui/feedback.tsx';
import { TextField } from '../ui/field.tsx';
import type { Filter, FilterState } from '../ui/filter-bar.tsx';
import { FilterChip } from '../ui/filters.tsx';
import { catalogue } from '../ui/language.ts';
import { text as kit } from '../ui/text.ts';
import { useSettled } from '../ui/use-settled.ts';
import { useRead } from './routes.ts';
import { text as shared } from './text.ts';

const text = catalogue({
  search: ['Part of the name, or the id', 'የስሙ ክፍል ወይም መለያው'],
  none: ['No merchant has this name or id.', 'ይህ ስም ወይም መለያ ያለው ነጋዴ የለም።'],
});

const LISTED_MAX = 8;

/** Narrows a list to one merchant, who is chosen by name. */
export const MERCHANT_FILTER: Filter = {
  kind: 'own',
  names: ['merchantId'],
  show: (state) => <MerchantFilter {...state} />,
};

function MerchantFilter({ chosen: { merchantId }, change }: FilterState) {
  const params = { merchantId: merchantId ?? '' };
  const read = useRead('GET /api/ops/merchants/:merchantId', { params }, { enabled: merchantId !== undefined });
  const merchant = read.data?.data;
  return (
    <FilterChip name={shared.merchant} value={merchant?.merchantId === merchantId ? merchant?.name : merchantId}>
      {(close) => (
        <Choices
          onChoose={(chosen) => {
            change({ merchantId: chosen });
            close();
          }}
        />
      )}
    </FilterChip>
  );
}

/** The newest merchants, or those of the typed name. */
function Choices({ onChoose }: { onChoose: (merchantId: string | undefined) => void }) {
  const [typed, setTyped] = useState('');
  const search = useSettled(typed.trim()) || undefined;
  const found = useRead('GET /api/ops/merchants', { query: { search, limit: LISTED_MAX } });
  return (
    <div className="flex w-64 flex-col gap-1">
      <TextField label={text.search} value={typed} onChange={({ target }) => setTyped(target.value)} />
      <Button kind="plain" className="justify-start" onClick={() => onChoose(undefined)}>
        {kit.any}
      </Button>
      <Loaded query={found} skeletonRows={2}>
        {({ data: merchants }) =>
          merchants.length === 0 ? (
            <p className="px-3 text-quiet">{text.none}</p>
          ) : (
            merchants.map(({ merchantId, name }) => (
              <Button key={merchantId} kind="plain" className="justify-start" onClick={() => onChoose(merchantId)}>
                {name}
              </Button>
            ))
          )
        }
      </Loaded>
    </div>
  );
}
