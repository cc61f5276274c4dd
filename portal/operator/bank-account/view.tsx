import { Badge, type Tone } from '../../ui/badge.tsx';
import { Code } from '../../ui/copy.tsx';
import { environment } from '../../ui/environment.ts';
import { Facts } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { catalogue } from '../../ui/language.ts';
import { Time } from '../../ui/time.tsx';
import { CommandButton } from '../command-button.tsx';
import { useOperator } from '../operator.ts';
import { Actions, Decisions, MerchantLine, Named } from '../parts.tsx';
import { useRead, type BankAccountDetail as Detail } from '../routes.ts';
import { text as shared } from '../text.ts';

const text = catalogue({
  PENDING: ['To verify', 'ማረጋገጫ ይጠብቃል'],
  VERIFIED: ['Verified', 'ተረጋግጧል'],
  REJECTED: ['Rejected', 'ውድቅ ተደርጓል'],
  bank: ['Bank', 'ባንክ'],
  number: ['Account number', 'የሂሳብ ቁጥር'],
  name: ['Holder', 'የባለቤቱ ስም'],
  linkedAt: ['Linked at', 'የተገናኘበት ጊዜ'],
  usableFrom: ['Usable from', 'መጠቀም የሚቻልበት ጊዜ'],
  rejected: ['Rejected because', 'ውድቅ የተደረገበት ምክንያት'],
});

const TONES: Record<Detail['status'], Tone> = { PENDING: 'warn', VERIFIED: 'good', REJECTED: 'bad' };

/** The bank account of a merchant, to compare with its bank's letter. `id`: the merchant's. */
export function BankAccountView({ id }: { id: string }) {
  const { whyNot } = useOperator();
  const query = useRead('GET /api/ops/merchants/:merchantId/bank-account', {
    params: { merchantId: id },
    query: { environment },
  });
  return (
    <Loaded query={query} whyNot={whyNot('bank-account.verify')}>
      {({ data }) => <BankAccountDetail account={data} />}
    </Loaded>
  );
}

function BankAccountDetail({ account }: { account: Detail }) {
  const { operatorId } = useOperator();
  const { links, bankAccountId, requestedWith } = account;
  const isOwn = account.environment === 'live' && requestedWith?.createdBy === operatorId;
  const body = { environment, bankAccountId };
  return (
    <>
      <Actions>
        {links['verify'] && (
          <CommandButton
            name="bank-account.verify"
            address={links['verify']}
            body={body}
            whyNot={isOwn ? shared.yourInvitation : undefined}
          />
        )}
        {links['reject'] && <CommandButton name="bank-account.reject" address={links['reject']} body={body} />}
      </Actions>
      <Facts
        rows={{
          [shared.status]: <Badge tone={TONES[account.status]}>{text[account.status]}</Badge>,
          [shared.merchant]: <MerchantLine of={account} />,
          [text.bank]: account.bankName,
          [text.number]: <Code value={account.accountNumber} name={text.number} />,
          [text.name]: account.accountName,
          [text.linkedAt]: <Time at={account.linkedAt} seconds />,
          [text.usableFrom]: <Time at={account.usableFrom} />,
          [text.rejected]: account.rejectionReason,
          [shared.requestedBy]: (
            <Named id={account.requestedBy} name={account.requestedByName} label={shared.requestedBy} />
          ),
        }}
      />
      <Decisions decisions={account.decisions} />
    </>
  );
}
