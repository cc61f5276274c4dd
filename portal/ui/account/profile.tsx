import { useState } from 'react';

import { CallFailure } from '../call.ts';
import { Choice, TextField } from '../field.tsx';
import { Form } from '../form.tsx';
import { text as frame } from '../frame-text.ts';
import { catalogue, changeLanguage, LANGUAGES, type Language } from '../language.ts';
import { Page } from '../page.tsx';
import { text as kit } from '../text.ts';
import { useChange, type Me } from './routes.ts';

const text = catalogue({
  name: ['Name', 'ስም'],
  nameRule: ['As your colleagues know you, at most 100 characters.', 'ባልደረቦችዎ እንደሚያውቁዎት፣ ቢበዛ 100 ፊደላት።'],
  email: ['E-mail', 'ኢሜይል'],
  language: ['Language', 'ቋንቋ'],
  calendar: ['Calendar', 'የቀን መቁጠሪያ'],
  gregorian: ['Gregorian', 'ጎርጎርዮሳዊ'],
  ethiopic: ['Ethiopian', 'ኢትዮጵያዊ'],
  both: ['Both', 'ሁለቱም'],
  clock: ['Clock', 'ሰዓት'],
  '24h': ['24 hours: 14:30', '24 ሰዓት፦ 14:30'],
  '12h': ['12 hours: 2:30 pm', '12 ሰዓት (አውሮፓዊ)፦ 2:30 ከሰዓት'],
  ethiopian: ['Ethiopian: 8:30 day', 'ኢትዮጵያዊ፦ ከሰዓት 8:30'],
  save: ['Save', 'ያስቀምጡ'],
});

const LANGUAGE_OPTIONS = Object.entries(LANGUAGES) as [Language, string][];
const CALENDARS = (['gregorian', 'ethiopic', 'both'] as const).map((calendar) => [calendar, text[calendar]] as const);

const CLOCKS = (['24h', '12h', 'ethiopian'] as const).map((clock) => [clock, text[clock]] as const);

type User = Omit<Me['user'], 'userId'>;

/** The page of the person whom `usePerson` returns. */
export const profilePage = (usePerson: () => { user: User }) =>
  function ProfilePage() {
    return (
      <Page title={frame.profile}>
        <Profile user={usePerson().user} />
      </Page>
    );
  };

/** The person's name, and the language, calendar and clock of the pages. */
function Profile({ user }: { user: User }) {
  const [values, setValues] = useState<Omit<User, 'email'>>({
    name: user.name,
    language: user.language,
    calendar: user.calendar,
    clock: user.clock,
  });
  const change = useChange('PATCH /api/portal/profile');
  const isWrong = change.error instanceof CallFailure && change.error.details.some(({ field }) => field === 'name');
  const isEmpty = values.name.trim() === '';
  const submit = (): void => {
    if (isEmpty) return;
    const onSuccess = (): void => {
      changeLanguage(values.language);
      // Days and times are written in the calendar and clock that were chosen when the page was loaded.
      location.reload();
    };
    change.mutate({ body: { ...values, name: values.name.trim() } }, { onSuccess });
  };
  return (
    <div className="card max-w-xl p-4">
      <Form change={change} isErrorBeside={isWrong} action={text.save} onSubmit={submit}>
        <p>
          <span className="text-quiet">{text.email}:</span> {user.email}
        </p>
        <TextField
          label={text.name}
          hint={text.nameRule}
          isRequired
          maxLength={100}
          autoComplete="name"
          value={values.name}
          error={isEmpty ? kit.fillIn : isWrong ? text.nameRule : undefined}
          onChange={(event) => setValues({ ...values, name: event.target.value })}
        />
        <Choice
          label={text.language}
          options={LANGUAGE_OPTIONS}
          value={values.language}
          onChange={(language) => setValues({ ...values, language })}
        />
        <Choice
          label={text.calendar}
          options={CALENDARS}
          value={values.calendar}
          onChange={(calendar) => setValues({ ...values, calendar })}
        />
        <Choice
          label={text.clock}
          options={CLOCKS}
          value={values.clock}
          onChange={(clock) => setValues({ ...values, clock })}
        />
      </Form>
    </div>
  );
}
