interface SegmentsProps<V extends string> {
  readonly label: string
  readonly value: V
  readonly options: readonly { readonly value: V; readonly label: string }[]
  readonly onValue: (value: V) => void
}

/** Choice of a few visible values, built of buttons. */
export const Segments = <V extends string>({ label, value, options, onValue }: SegmentsProps<V>) => (
  <div class="segments" role="group" aria-label={label}>
    {options.map(one => (
      <button key={one.value} type="button" aria-pressed={one.value === value} onClick={() => onValue(one.value)}>
        {one.label}
      </button>
    ))}
  </div>
)
