import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface Labelled {
  readonly label: string
  /** Help text below the field. */
  readonly hint?: ComponentChildren
  /** Error of the field, shown instead of the hint. */
  readonly error?: string | undefined
  readonly hideLabel?: boolean | undefined
}

interface Ids {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean
}

interface FrameProps extends Labelled {
  readonly children: (ids: Ids) => ComponentChildren
}

function Frame({ label, hint, error, hideLabel, children }: FrameProps) {
  const id = useId()
  const note = error ?? hint
  const describedBy = note === undefined ? undefined : `${id}-note`
  return (
    <div class={error === undefined ? 'field' : 'field wrong'}>
      <label for={id} class={hideLabel ? 'unseen' : undefined}>
        {label}
      </label>
      {children({ id, 'aria-describedby': describedBy, 'aria-invalid': error !== undefined })}
      {note !== undefined && (
        <div id={describedBy} class="note" role={error === undefined ? undefined : 'alert'}>
          {note}
        </div>
      )}
    </div>
  )
}

/** HTML attributes that all kinds of fields pass to their element. */
interface Native {
  readonly name?: string
  readonly required?: boolean
  readonly disabled?: boolean
  readonly readOnly?: boolean
  readonly autoFocus?: boolean
  readonly placeholder?: string | undefined
  readonly autocomplete?: string
  readonly spellcheck?: boolean
  readonly 'data-autofocus'?: boolean
}

interface FieldProps extends Labelled, Native {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly type?: 'text' | 'password' | 'number' | 'date' | 'datetime-local' | 'email' | 'url'
  readonly inputMode?: 'numeric' | 'decimal'
  readonly autocapitalize?: 'none'
  readonly min?: number | string
  readonly max?: number | string
  readonly step?: number | string
  /** Id of a `datalist` with suggestions. */
  readonly list?: string
  readonly onFocus?: () => void
  readonly onBlur?: () => void
  /** Text before the value, such as a currency. */
  readonly prefix?: string
  /** Text after the value, such as a unit. */
  readonly suffix?: string
}

/** Single-line input with a label. */
export const Field = (props: FieldProps) => {
  const { label, hint, error, hideLabel, prefix, suffix, value, onValue, ...native } = props
  return (
    <Frame label={label} hint={hint} error={error} hideLabel={hideLabel}>
      {ids => (
        <span class="input">
          {prefix && <span class="affix">{prefix}</span>}
          <input
            type="text"
            {...(native as object)}
            {...ids}
            value={value}
            onInput={event => onValue(event.currentTarget.value)}
          />
          {suffix && <span class="affix">{suffix}</span>}
        </span>
      )}
    </Frame>
  )
}

interface AreaProps extends Labelled, Native {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly rows?: number
  /** Monospaced and without line wrapping, for code. */
  readonly mono?: boolean
}

/** Multi-line input with a label. */
export const Area = (props: AreaProps) => {
  const { label, hint, error, hideLabel, mono, value, onValue, ...native } = props
  return (
    <Frame label={label} hint={hint} error={error} hideLabel={hideLabel}>
      {ids => (
        <textarea
          rows={3}
          class={mono ? 'mono' : undefined}
          {...native}
          {...ids}
          value={value}
          onInput={event => onValue(event.currentTarget.value)}
        />
      )}
    </Frame>
  )
}

interface SelectProps<V extends string> extends Labelled, Pick<Native, 'name' | 'disabled' | 'data-autofocus'> {
  readonly value: V
  readonly onValue: (value: V) => void
  readonly options: readonly { readonly value: V; readonly label: string }[]
}

/** Select with a label. */
export const Select = <V extends string>(props: SelectProps<V>) => {
  const { label, hint, error, hideLabel, value, onValue, options, ...native } = props
  return (
    <Frame label={label} hint={hint} error={error} hideLabel={hideLabel}>
      {ids => (
        <span class="select">
          <select
            {...(native as object)}
            {...ids}
            value={value}
            onChange={event => onValue(event.currentTarget.value as V)}
          >
            {options.map(one => (
              <option key={one.value} value={one.value} selected={one.value === value}>
                {one.label}
              </option>
            ))}
          </select>
          <Icon name="down" />
        </span>
      )}
    </Frame>
  )
}

interface CheckProps {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly checked: boolean
  readonly onValue: (checked: boolean) => void
  readonly disabled?: boolean
}

/** Checkbox with a label. */
export const Check = ({ label, hint, checked, onValue, disabled = false }: CheckProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={checked}
      disabled={disabled}
      onChange={event => onValue(event.currentTarget.checked)}
    />
    <span>
      {label}
      {hint !== undefined && <span class="note">{hint}</span>}
    </span>
  </label>
)
