import type { JsonObject } from '../../src/canonical/node.ts'
import type { Connection } from '../voice/upstream.ts'
import { DIALECTS, type Frame, SESSIONS } from './realtime.ts'

/** Recorded sessions that start with a connection and last for one. */
export const WHOLE = SESSIONS.filter(
  ({ name, vendor, frames }) =>
    vendor in DIALECTS && !name.includes('session-resumption') && frames[0]?.data['type'] === 'session.created',
)

/** Plays the upstream's part. Waits for each frame of the client, and acknowledges the gateway's own updates. */
export async function play(connection: Connection, frames: readonly Frame[]): Promise<void> {
  let taken = 0
  const updated = frames.find(({ data }) => data['type'] === 'session.updated')?.data
  const begun = frames.findIndex(({ data }) => data['type'] === 'session.update')
  for (const [index, { direction, data }] of frames.entries()) {
    if (direction === 'received') {
      connection.send(data)
      continue
    }
    for (;;) {
      await connection.until(taken + 1)
      const event = connection.received[taken++]!
      if (event['type'] === data['type'] && !(index === begun && isOwn(event))) break
      if (event['type'] === 'session.update' && updated !== undefined) connection.send(updated)
    }
  }
}

/** Whether an update is the gateway's own, which sets only audio formats. */
const isOwn = ({ session }: JsonObject): boolean => {
  const { type: _, audio: __, input_audio_format: ___, output_audio_format: ____, ...rest } = session as JsonObject
  return Object.keys(rest).length === 0
}
