import { type Json, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'

/* Adds up the events of a transcript. Source: https://platform.openai.com/docs/api-reference/audio/transcript-text-delta-event */

/** Collects the text and log probabilities of the deltas, the segments, and the usage of the last event. */
export function assemble(events: readonly Json[]): JsonObject {
  let text = ''
  const segments: JsonObject[] = []
  const logprobs: Json[] = []
  let end: JsonObject = {}
  for (const event of events.map(objectOf)) {
    if (event['type'] === 'transcript.text.delta') {
      text += textOf(event['delta']) ?? ''
      for (const one of listOf(event['logprobs'])) logprobs.push(one)
    } else if (event['type'] === 'transcript.text.segment') segments.push(event)
    else if (event['type'] === 'transcript.text.done') end = event
  }
  const { usage } = end
  return {
    text,
    ...(segments.length > 0 ? { segments } : {}),
    ...(logprobs.length > 0 ? { logprobs } : {}),
    ...(usage === undefined ? {} : { usage }),
  }
}
