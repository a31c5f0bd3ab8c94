import { useRef, useState } from 'preact/hooks'
import { Field } from '../../ui/field.tsx'
import { dayOf } from './ranges.ts'
import { text } from './texts.ts'
import { type Change, isDay, type View } from './view.ts'

type Days = Pick<View, 'from' | 'to'>

/** Returns the range after one of its days was changed. The other day follows if the order would be wrong. */
export function rangeWith(days: Days, next: Partial<Days>): Days {
  const { from, to } = { ...days, ...next }
  if (from <= to) return { from, to }
  return next.from === undefined ? { from: to, to } : { from, to: from }
}

interface DaysProps {
  readonly view: View
  readonly change: Change
  readonly now: number
}

/** Fields for the first and the last day of a range. */
export function DayFields({ view, change, now }: DaysProps) {
  const words = text()
  /** The range when the focused field was entered: a day in the middle of typing must not change the other day. */
  const before = useRef<Days>(view)
  const field = (name: keyof Days, label: string) => (
    <DayField
      label={label}
      value={view[name]}
      max={dayOf(now)}
      onEnter={() => {
        before.current = view
      }}
      onDay={day => change(rangeWith(before.current, { [name]: day }))}
    />
  )
  return (
    <div class="days">
      {field('from', words.from)}
      <span aria-hidden="true">–</span>
      {field('to', words.to)}
      <span class="note">{words.utc}</span>
    </div>
  )
}

interface DayFieldProps {
  readonly label: string
  readonly value: string
  readonly max: string
  readonly onEnter: () => void
  readonly onDay: (day: string) => void
}

/** Field for a day. Browsers report each digit of a typed year as a day, such as one of the year 2. */
function DayField({ label, value, max, onEnter, onDay }: DayFieldProps) {
  const [typed, setTyped] = useState<string>()
  return (
    <Field
      type="date"
      hideLabel
      label={label}
      value={typed ?? value}
      max={max}
      onFocus={onEnter}
      onBlur={() => setTyped(undefined)}
      onValue={day => {
        setTyped(day)
        if (isDay(day)) onDay(day)
      }}
    />
  )
}
