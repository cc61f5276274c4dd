import { text } from './frame-text.ts';
import { changeLanguage, language, LANGUAGES, type Language } from './language.ts';

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
