import { isObject, type Json, type JsonObject, objectOf, textOf } from '../../json.ts'

/** Characters per group of base64. A group encodes three bytes. */
const GROUP_LENGTH = 4

/**
 * Assembles the events of a stream into the recording, in base64, and the usage. Source:
 * https://platform.openai.com/docs/api-reference/audio/speech-audio-delta-event
 */
export function assemble(events: readonly Json[]): JsonObject {
  const pieces: Buffer[] = []
  let rest = ''
  let usage: JsonObject = {}
  for (const event of events.map(objectOf)) {
    if (isObject(event['usage'])) usage = event['usage']
    rest += textOf(event['audio']) ?? ''
    const decodableLength = rest.length - (rest.length % GROUP_LENGTH)
    pieces.push(Buffer.from(rest.slice(0, decodableLength), 'base64'))
    rest = rest.slice(decodableLength)
  }
  pieces.push(Buffer.from(rest, 'base64'))
  return { audio: Buffer.concat(pieces).toString('base64'), usage }
}
