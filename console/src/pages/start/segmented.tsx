import { useId } from 'preact/hooks'

interface SegmentedProps<V extends string> {
  readonly label: string
  readonly value: V
  readonly onValue: (value: V) => void
  readonly options: readonly { readonly value: V; readonly label: string }[]
}

/** Choice of a few visible values, built of radio buttons. */
export function Segmented<V extends string>({ label, value, onValue, options }: SegmentedProps<V>) {
  const name = useId()
  return (
    <fieldset class="segmented">
      <legend class="unseen">{label}</legend>
      {options.map(one => (
        <label key={one.value}>
          <input
            type="radio"
            name={name}
            value={one.value}
            checked={one.value === value}
            onChange={() => onValue(one.value)}
          />
          <span>{one.label}</span>
        </label>
      ))}
    </fieldset>
  )
}
