import { common } from '../i18n/common.ts'
import { Icon } from './icon.tsx'

interface SearchBoxProps {
  readonly value: string
  readonly onValue: (value: string) => void
  /** What is searched: `Search keys`. */
  readonly label?: string
  /** In a dialog: it has the focus at first. */
  readonly autofocus?: boolean
}

/** Narrows a list; `/` goes there from anywhere on the page. */
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

/** Whether each word that is searched is in one of the texts, whatever their case. */
export function matches(search: string, ...texts: readonly (string | undefined)[]): boolean {
  const all = texts.join('\n').toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every(word => all.includes(word))
}
