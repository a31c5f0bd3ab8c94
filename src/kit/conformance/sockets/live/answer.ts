import type { UsageFacts } from '../../facts.ts'
import { compact, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { dataOf } from '../frame.ts'
import { audioOf, type ResponseFacts, type SessionAnswer, type SessionCall } from '../session-facts.ts'
import type { Frames } from '../session-format.ts'
import { textIn } from './names.ts'

/* Extracts the facts of a server's messages. A response ends with a call or with the end of a turn. */

const contentOf = (data: JsonObject): JsonObject => objectOf(data['serverContent'])
const callsOf = (data: JsonObject): JsonObject[] => listOf(objectOf(data['toolCall'])['functionCalls']).map(objectOf)

const endsResponse = (data: JsonObject): boolean => contentOf(data)['turnComplete'] === true || callsOf(data).length > 0

const partsOf = (data: JsonObject): JsonObject[] =>
  listOf(objectOf(contentOf(data)['modelTurn'])['parts']).map(objectOf)

/** Returns true if a message has a part of the answer. Thoughts do not count. */
const hasContent = (data: JsonObject): boolean =>
  callsOf(data).length > 0 ||
  partsOf(data).some(({ thought }) => thought !== true) ||
  Boolean(objectOf(contentOf(data)['outputTranscription'])['text'])

/**
 * Splits messages into responses. Google Cloud also ends the turn after a call. This end without content belongs to the
 * call's response.
 */
function responsesIn(events: readonly JsonObject[]): JsonObject[][] {
  const groups: JsonObject[][] = []
  let open: JsonObject[] = []
  for (const data of events) {
    open.push(data)
    if (!endsResponse(data)) continue
    const last = groups.at(-1)
    if (last?.some(one => callsOf(one).length > 0) && !open.some(hasContent)) for (const one of open) last.push(one)
    else groups.push(open)
    open = []
  }
  return open.some(hasContent) ? [...groups, open] : groups
}

const callOf = ({ name, args, id }: JsonObject): SessionCall =>
  compact({ name: textOf(name), arguments: args ?? {}, id: textOf(id) })

function usageOf(events: readonly JsonObject[]): UsageFacts {
  const usage = objectOf(events.findLast(data => 'usageMetadata' in data)?.['usageMetadata'])
  const output = numberOf(usage['responseTokenCount'] ?? usage['candidatesTokenCount'])
  return compact({ input: numberOf(usage['promptTokenCount']), output })
}

function responseOf(events: readonly JsonObject[]): ResponseFacts {
  const contents = events.map(contentOf)
  const parts = events.flatMap(partsOf)
  const pieces = parts.flatMap(({ inlineData }) => textOf(objectOf(inlineData)['data']) ?? [])
  const transcript = contents.map(({ outputTranscription }) => textOf(objectOf(outputTranscription)['text']) ?? '')
  const calls = events.flatMap(callsOf).map(callOf)
  const isInterrupted = contents.some(({ interrupted }) => interrupted === true)
  const isOver = events.some(endsResponse)
  return compact({
    text: textIn(parts) || undefined,
    transcript: transcript.join('') || undefined,
    audio: audioOf(pieces, 'pcm@24000'),
    calls,
    finish: calls.length > 0 ? 'calls' : isInterrupted ? 'interrupted' : isOver ? 'stop' : undefined,
    usage: usageOf(events),
  }) as ResponseFacts
}

/** Returns the facts of all messages that the server sent. */
export function answerOf({ server, closed }: Frames): SessionAnswer {
  const events = dataOf(server)
  const heard = events.map(data => textOf(objectOf(contentOf(data)['inputTranscription'])['text']) ?? '').join('')
  return compact({
    responses: responsesIn(events).map(responseOf),
    heard: heard === '' ? [] : [heard.trim()],
    close: closed === undefined ? undefined : compact({ code: closed.code, reason: closed.reason || undefined }),
  }) as SessionAnswer
}
