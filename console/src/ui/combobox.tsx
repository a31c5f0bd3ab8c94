import './combobox.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { matches } from './search-box.tsx'

/** One option of a combobox. */
export interface Option {
  readonly value: string
  readonly label: string
  /** Short text beside the label. */
  readonly note?: string | undefined
}

interface ComboboxProps {
  readonly label: string
  readonly value: string | undefined
  readonly onValue: (value: string) => void
  readonly options: readonly Option[]
  /** Text of the field while nothing is chosen. */
  readonly placeholder: string
  /** Text if no option matches. */
  readonly nothing: string
  readonly more: (count: number) => string
  readonly hint?: ComponentChildren
  readonly disabled?: boolean
  /** Makes the shortcut `/` focus the field. */
  readonly search?: boolean
}

/** Maximum number of options listed at once. Typing narrows the list. */
const LISTED = 60

/** Select with a search field, after the ARIA combobox pattern with a list popup. */
export function Combobox(props: ComboboxProps) {
  const { label, value, onValue, options, placeholder, nothing, more, hint, disabled = false, search } = props
  const id = useId()
  const [written, setWritten] = useState<string>()
  const [active, setActive] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const isOpen = written !== undefined
  const found = options.filter(one => matches(written ?? '', one.label, one.note))
  const listed = found.slice(0, LISTED)
  const chosen = options.find(one => one.value === value)

  const open = (): void => {
    if (isOpen) return
    setWritten('')
    setActive(
      Math.max(
        options.slice(0, LISTED).findIndex(one => one.value === value),
        0,
      ),
    )
  }
  const close = (): void => setWritten(undefined)
  const choose = (option: Option | undefined): void => {
    if (option !== undefined) onValue(option.value)
    close()
  }

  useEffect(() => {
    if (isOpen) list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [isOpen, active])

  const press = (event: KeyboardEvent): void => {
    const { key } = event
    if (!isOpen && key !== 'ArrowDown' && key !== 'Enter') return
    const last = Math.max(listed.length - 1, 0)
    if (key === 'ArrowDown') isOpen ? setActive(Math.min(active + 1, last)) : open()
    else if (key === 'ArrowUp') setActive(Math.max(active - 1, 0))
    else if (key === 'Enter') isOpen ? choose(listed[active]) : open()
    else if (key === 'Escape') close()
    else return
    event.preventDefault()
  }

  return (
    <div class="field combobox">
      <label for={id}>{label}</label>
      <span class="input">
        <input
          id={id}
          type="text"
          role="combobox"
          autocomplete="off"
          spellcheck={false}
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={isOpen && listed.length > 0 ? `${id}-${active}` : undefined}
          aria-describedby={hint === undefined ? undefined : `${id}-hint`}
          disabled={disabled}
          {...(search ? { 'data-search': '' } : {})}
          placeholder={isOpen ? (chosen?.label ?? placeholder) : placeholder}
          value={isOpen ? written : (chosen?.label ?? '')}
          onFocus={open}
          onClick={open}
          onBlur={close}
          onKeyDown={press}
          onInput={event => {
            setWritten(event.currentTarget.value)
            setActive(0)
          }}
        />
        <Icon name="down" />
      </span>
      <div
        ref={list}
        id={`${id}-list`}
        class="options"
        role="listbox"
        aria-label={label}
        // Browsers let Tab stop at elements that scroll. The list closes then, and the focus would be lost.
        tabIndex={-1}
        hidden={!isOpen}
        onMouseDown={event => event.preventDefault()}
      >
        {isOpen &&
          listed.map((one, at) => (
            // The field keeps the focus and handles the keyboard.
            // biome-ignore lint/a11y/useKeyWithClickEvents: see above.
            // biome-ignore lint/a11y/useFocusableInteractive: see above.
            <div
              key={one.value}
              id={`${id}-${at}`}
              role="option"
              aria-selected={at === active}
              class={one.value === value ? 'chosen' : undefined}
              onMouseDown={event => event.preventDefault()}
              onClick={() => choose(one)}
            >
              <span class="cut">{one.label}</span>
              {one.note && <span class="faint">{one.note}</span>}
            </div>
          ))}
        {isOpen && listed.length === 0 && <p class="faint">{nothing}</p>}
        {isOpen && found.length > LISTED && <p class="faint">{more(found.length - LISTED)}</p>}
      </div>
      {hint !== undefined && (
        <div id={`${id}-hint`} class="note">
          {hint}
        </div>
      )}
    </div>
  )
}
