import type { Capture } from '../../api/types.ts'
import { number } from '../../format.ts'
import { EventsView } from './events-view.tsx'
import { JsonView, type Marks } from './json-view.tsx'
import { PlainText } from './plain-text.tsx'
import { text } from './texts.ts'

/** A captured body: JSON, text, events, files or a byte count. */
export type Shown = Pick<Capture['returned'], 'body' | 'text' | 'events' | 'files' | 'bytes'>

interface BodyProps {
  readonly shown: Shown
  readonly label: string
  readonly marks?: Marks
  readonly target?: string | undefined
}

/** Shows a captured body by its kind. */
export function Body({ shown, label, marks, target }: BodyProps) {
  const { body, events, files, bytes } = shown
  const words = text().views
  if (events !== undefined) return <EventsView events={events} label={label} />
  if (shown.text !== undefined) return <PlainText label={label}>{shown.text}</PlainText>
  if (bytes !== undefined) return <p class="nothing">{words.bytes(number(bytes))}</p>
  if (body === undefined) return <p class="nothing">{words.noBody}</p>
  return (
    <>
      <JsonView value={body} label={label} {...(marks === undefined ? {} : { marks })} target={target} />
      {files !== undefined && (
        <ul class="capture-files">
          {files.map(({ field, name, media_type: type, size }, index) => (
            <li key={index}>
              <code>{field}</code>
              <span>{name}</span>
              <span class="faint">{type}</span>
              {size !== undefined && <span class="faint number">{words.fileSize(number(size))}</span>}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** Text of a body for the clipboard. Undefined if it cannot be copied. */
export function copyTextOf({ body, text: plain, events }: Shown): string | undefined {
  if (events !== undefined)
    return events
      .map(({ event, data }) => `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`)
      .join('')
  return plain ?? (body === undefined ? undefined : JSON.stringify(body, null, 2))
}
