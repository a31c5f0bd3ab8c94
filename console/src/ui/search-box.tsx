import { common } from '../i18n/common.ts'
import { Icon } from './icon.tsx'

interface SearchBoxProps {
  readonly value: string
  readonly onValue: (value: string) => void
  /** Placeholder and label, such as `Search keys`. */
  readonly label?: string
  /** Takes the focus when its dialog opens. */
  readonly autofocus?: boolean
}

/** Search field for a list. The shortcut `/` focuses it. */
export const SearchBox = ({ value, onValue, label = common().search, autofocus }: SearchBoxProps) => (
  <label class="search">
    <Icon name="search" />
    <span class="unseen">{label}</span>
    <input
      type="search"
      data-search=""
      data-autofocus={autofocus}
      autocomplete="off"
      spellcheck={false}
      placeholder={label}
      value={value}
      onInput={event => onValue(event.currentTarget.value)}
    />
    <kbd aria-hidden="true">/</kbd>
  </label>
)

/** Accents are one character or two, depending on the keyboard and the system that wrote them. */
const folded = (text: string): string => text.normalize('NFC').toLowerCase()

/** Whether each word of the search occurs in one of the texts, ignoring case. */
export function matches(search: string, ...texts: readonly (string | undefined)[]): boolean {
  const all = folded(texts.join('\n'))
  return folded(search)
    .split(/\s+/)
    .every(word => all.includes(word))
}
