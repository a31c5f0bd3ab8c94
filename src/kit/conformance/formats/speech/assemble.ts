import { isObject, type Json, type JsonObject, objectOf, textOf } from '../../json.ts'

/** Characters of a group of base64, which are three bytes. */
const GROUP = 4

/** The recording, in base64, and the usage that a stream's events add up to. Source: https://platform.openai.com/docs/api-reference/audio/speech-audio-delta-event */
export function assemble(events: readonly Json[]): JsonObject {
  const pieces: Buffer[] = []
  let rest = ''
  let usage: JsonObject = {}
  for (const event of events.map(objectOf)) {
    if (isObject(event['usage'])) usage = event['usage']
    rest += textOf(event['audio']) ?? ''
    const whole = rest.length - (rest.length % GROUP)
    pieces.push(Buffer.from(rest.slice(0, whole), 'base64'))
    rest = rest.slice(whole)
  }
  pieces.push(Buffer.from(rest, 'base64'))
  return { audio: Buffer.concat(pieces).toString('base64'), usage }
}
