import { Code } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { catalogue } from '../ui/language.ts';

const text = catalogue({
  title: ['Invitation', 'ግብዣ'],
  help: [
    'Send this token to its holder alone, who redeems it once within 3 days. It is shown only now.',
    'ይህን ማስመሰያ ለባለቤቱ ብቻ ይላኩ፤ በ3 ቀናት ውስጥ አንድ ጊዜ ይጠቀምበታል። አሁን ብቻ ይታያል።',
  ],
  token: ['Token', 'ማስመሰያ'],
});

/** The token of an invitation in the data of a response. */
export function tokenOf(data: unknown): string {
  const { token, invitation } = data as { token?: string; invitation?: { token: string } };
  return token ?? invitation?.token ?? '';
}

/** Shows the token of an invitation, once; null: none. */
export function TokenDialog({ token, onClose }: { token: string | null; onClose: () => void }) {
  if (token === null) return null;
  return (
    <Dialog title={text.title} onClose={onClose}>
      <p>{text.help}</p>
      <Code value={token} name={text.token} />
    </Dialog>
  );
}
