import { useState } from 'preact/hooks'
import type { Capture } from '../../api/types.ts'
import { duration, number } from '../../format.ts'
import { Button } from '../../ui/button.tsx'
import { JsonView } from './json-view.tsx'
import { PlainText } from './plain-text.tsx'
import { text } from './texts.ts'

type Event = NonNullable<Capture['returned']['events']>[number]

/** Number of events shown at first, and added with each “show more”. */
const STEP = 200

/** Events of a stream with their times. Each event expands to show its data. */
export function EventsView({ events, label }: { readonly events: readonly Event[]; readonly label: string }) {
  const [shown, setShown] = useState(STEP)
  const words = text().views
  const last = events.at(-1)?.ms ?? 0
  const first = events[0]?.ms ?? 0
  const place = (ms: number): number => (last === first ? 0 : ((ms - first) / (last - first)) * 100)
  return (
    <section class="capture-events" tabIndex={0} aria-label={`${label}: ${words.events(events.length)}`}>
      <div class="capture-beats" aria-hidden="true">
        {events.slice(0, MOST_BEATS).map(({ ms }, index) => (
          <span key={index} style={{ left: `${place(ms)}%` }} />
        ))}
      </div>
      <ol>
        {events.slice(0, shown).map((event, index) => (
          <OneEvent key={index} event={event} />
        ))}
      </ol>
      {shown < events.length && (
        <Button small onClick={() => setShown(shown + 5 * STEP)}>
          {words.moreItems(number(events.length - shown))}
        </Button>
      )}
    </section>
  )
}

const MOST_BEATS = 1000

function OneEvent({ event: { ms, event, data } }: { readonly event: Event }) {
  const [isOpen, setOpen] = useState(false)
  const value = isOpen ? jsonIn(data) : undefined
  return (
    <li>
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="ms number">{duration(ms)}</span>
        {event !== undefined && <span class="name">{event}</span>}
        <code class="cut">{data.slice(0, 300)}</code>
      </button>
      {isOpen &&
        (value === undefined ? <PlainText>{data}</PlainText> : <JsonView value={value} label={event ?? 'data'} bare />)}
    </li>
  )
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
