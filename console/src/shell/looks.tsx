import { common } from '../i18n/common.ts'
import { LANGUAGES, type Language, language } from '../i18n/index.ts'
import { THEMES, theme } from '../theme.ts'
import { Choice } from './choice.tsx'

/** Name of each language in that language. */
const LANGUAGE_NAMES: { readonly [L in Language]: string } = { en: 'English', zh: '中文' }

/** Selects for theme and language. */
export function Looks() {
  const text = common()
  return (
    <div class="looks">
      <Choice
        label={text.theme}
        icon="moon"
        value={theme.value}
        onValue={value => (theme.value = value)}
        options={THEMES.map(value => ({ value, label: text.themes[value] }))}
      />
      <Choice
        label={text.language}
        icon="globe"
        value={language.value}
        onValue={value => (language.value = value)}
        options={LANGUAGES.map(value => ({ value, label: LANGUAGE_NAMES[value] }))}
      />
    </div>
  )
}
