import type { CaptureDocument, CapturedBody, CapturedEvent } from '../../gateway/capture/shapes.ts'

/** One file of a fixture: `fixtures/<format>/<name>.<kind>.<ext>`. */
export interface FixtureFile {
  readonly name: string
  readonly content: string
}

/**
 * Converts a captured request to fixture files: the caller's request in its format, and the last attempt's request and
 * answer in the upstream's format. Truncated values stay truncated.
 */
export function fixtureOf({ id, caller, attempts }: CaptureDocument): readonly FixtureFile[] {
  const name = `captured-${id.slice(-8)}`
  const files: FixtureFile[] = []
  const add = (format: string, kind: string, content: string): void => {
    files.push({ name: `${format}/${name}.${kind}`, content })
  }
  if (caller.wire !== undefined) add(caller.format, 'request.json', request(caller.wire, caller))
  const last = attempts.at(-1)
  if (last?.request === undefined) return files
  const { format, answer } = last
  if (format !== caller.format) add(format, 'request.json', request(last.request.wire, last.request))
  if (answer?.events !== undefined) add(format, 'events.sse', answer.events.map(eventText).join(''))
  else if (answer?.body !== undefined)
    add(format, answer.status < 400 ? 'result.json' : 'error.json', json(answer.body))
  return files
}

const request = (wire: object, { body, files }: CapturedBody): string =>
  json({ ...wire, body: body ?? {}, ...(files === undefined ? {} : { files }) })

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Formats an event as its lines in a stream of server-sent events. */
export const eventText = ({ event, data }: CapturedEvent): string => {
  const lines = data.split(/\r\n|\r|\n/).join('\ndata: ')
  return event === undefined ? `data: ${lines}\n\n` : `event: ${event}\ndata: ${lines}\n\n`
}
