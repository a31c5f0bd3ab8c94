import { type JsonObject, objectOf } from '../json.ts'
import { frameWith } from './frame.ts'
import type { SessionFormat } from './session-format.ts'
import type { Line, Side } from './session-scenario.ts'
import type { Socket } from './socket.ts'

/* Plays one side of a script over a socket. */

export interface PlayOptions {
  readonly side: Side
  readonly format: SessionFormat
  readonly script: readonly Line[]
  readonly model: string
  /** Maximum time to wait for a frame from the other side, in milliseconds. */
  readonly frameTimeoutMs: number
}

/** Outcome of playing one side: the sent frames, and the kind of the frame that did not arrive in time. */
export interface PlayOutcome {
  readonly sent: readonly JsonObject[]
  readonly missing?: string
}

/** Maps ids from the script to the received ids, so that later frames refer to ids that exist. */
function idsBetween(format: SessionFormat, scripted: readonly JsonObject[], received: readonly JsonObject[]) {
  const found = received.flatMap(format.ids)
  return new Map(scripted.flatMap(format.ids).flatMap((id, at) => (found[at] === undefined ? [] : [[id, found[at]]])))
}

const withReceivedIds = (frame: JsonObject, ids: ReadonlyMap<string, string>): JsonObject =>
  JSON.parse(JSON.stringify(frame), (_, value: unknown) =>
    typeof value === 'string' ? (ids.get(value) ?? value) : value,
  ) as JsonObject

/**
 * Sends this side's lines. Before each line, waits for the other side's previous frame: as many frames of its kind must
 * have arrived as the script has up to that point.
 */
export async function play(
  socket: Socket,
  { side, format, script, model, frameTimeoutMs }: PlayOptions,
): Promise<PlayOutcome> {
  const sent: JsonObject[] = []
  const expected: JsonObject[] = []
  const caught = async (): Promise<boolean> => {
    const last = expected.at(-1)
    if (last === undefined) return true
    const kind = format.kind(last)
    const count = expected.filter(one => format.kind(one) === kind).length
    const arrivedCount = (): number => socket.received.filter(({ data }) => format.kind(data) === kind).length
    return socket.waitUntil(() => arrivedCount() >= count, frameTimeoutMs)
  }
  const missing = (): PlayOutcome => ({ sent, missing: format.kind(expected.at(-1)!) })
  for (const line of script) {
    if (line.side !== side) {
      if ('frame' in line) {
        if (!format.optional.has(format.kind(line.frame))) expected.push(line.frame)
      } else await socket.waitUntil(() => socket.closed !== undefined, frameTimeoutMs)
      continue
    }
    if (!(await caught())) return missing()
    if ('close' in line) {
      socket.close(line.close.code, line.close.reason)
      return { sent }
    }
    const received = socket.received.map(({ data }) => objectOf(data))
    const frame = withReceivedIds(format.withModel(line.frame, model), idsBetween(format, expected, received))
    sent.push(frame)
    socket.send(frameWith(frame).text)
  }
  return (await caught()) ? { sent } : missing()
}
