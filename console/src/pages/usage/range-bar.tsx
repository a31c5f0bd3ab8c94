import { Button, IconButton } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { Bar } from '../../ui/page.tsx'
import { DayFields } from './days.tsx'
import { FIELDS, type Field as FieldName } from './fields.ts'
import { dayOf } from './ranges.ts'
import { Segments } from './segments.tsx'
import { text } from './texts.ts'
import { type Change, RANGES, type RangeName, type View } from './view.ts'

interface RangeBarProps {
  readonly view: View
  readonly change: Change
  readonly now: number
  readonly onFilter: () => void
  readonly onRefresh: () => void
}

const WEEK = 6 * 86_400_000

/** Controls for time range, grouping and filters. */
export function RangeBar({ view, change, now, onFilter, onRefresh }: RangeBarProps) {
  const words = text()
  const choose = (range: RangeName): void =>
    range === 'days' ? change({ range, from: dayOf(now - WEEK), to: dayOf(now) }) : change({ range, from: '', to: '' })
  return (
    <Bar>
      <Segments
        label={words.range}
        value={view.range}
        options={RANGES.map(value => ({ value, label: words.ranges[value] }))}
        onValue={choose}
      />
      {view.range === 'days' && <DayFields view={view} change={change} now={now} />}
      <div class="push group-by">
        <span class="faint" aria-hidden="true">
          {words.groupBy}
        </span>
        <Select<FieldName | ''>
          label={words.groupBy}
          hideLabel
          value={view.by}
          options={[
            ...FIELDS.map(value => ({ value, label: words.fields[value] })),
            { value: '', label: words.nothing },
          ]}
          onValue={by => change({ by, hidden: [], sort: '', list: undefined })}
        />
      </div>
      <Button icon="plus" onClick={onFilter}>
        {words.filter}
      </Button>
      <IconButton icon="rotate" label={words.refresh} onClick={onRefresh} />
    </Bar>
  )
}
