import { changeLanguage, language, LANGUAGES, type Language } from '../ui/language.ts';
import { text } from './text.ts';

/** The language of the pages. */
export function LanguageChoice() {
  return (
    <label>
      <span className="sr-only">{text.language}</span>
      <select className="control" value={language} onChange={(event) => changeLanguage(event.target.value as Language)}>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
