import { useId } from 'preact/hooks'
import { Icon, type IconName } from '../ui/icon.tsx'

interface ChoiceProps<V extends string> {
  readonly label: string
  readonly icon: IconName
  readonly value: V
  readonly onValue: (value: V) => void
  readonly options: readonly { readonly value: V; readonly label: string }[]
}

/** A small select with an icon. Its label is a tooltip and for screen readers. */
export function Choice<V extends string>({ label, icon, value, onValue, options }: ChoiceProps<V>) {
  const id = useId()
  return (
    <span class="choice" title={label}>
      <Icon name={icon} />
      <label class="unseen" for={id}>
        {label}
      </label>
      <span class="select">
        <select id={id} value={value} onChange={event => onValue(event.currentTarget.value as V)}>
          {options.map(one => (
            <option key={one.value} value={one.value} selected={one.value === value}>
              {one.label}
            </option>
          ))}
        </select>
        <Icon name="down" size={14} />
      </span>
    </span>
  )
}
