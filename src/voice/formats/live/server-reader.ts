import { type CanonicalError, errorKindOf } from '../../../canonical/error.ts'
import { defined, isObject, type Json, type JsonObject, parseObject, stringIn } from '../../../canonical/node.ts'
import type { Modality } from '../../../canonical/request.ts'
import type { Usage } from '../../../canonical/result.ts'
import { type FunctionCall, LIVE, type LiveMessage } from './wire.ts'

/**
 * Reads the messages of one server frame, in the order in which they take effect. Never throws. An empty frame has no
 * messages. A frame that is not a JSON object or has no known field yields an `error` message.
 */
export function readFrame(frame: string): readonly LiveMessage[] {
  const value = parseObject(frame)
  if (value === undefined) return [failure('The upstream sent a frame that is not a JSON object.')]
  const messages: LiveMessage[] = []
  let known = false
  for (const field in FIELD_READERS)
    if (Object.hasOwn(value, field)) {
      known = true
      for (const message of FIELD_READERS[field]!(value[field])) messages.push(message)
    }
  if (!known && Object.keys(value).length > 0) return [failure('The upstream sent a frame of an unknown kind.')]
  return messages
}

const failure = (message: string): LiveMessage => ({ type: 'error', error: { kind: 'upstream-failed', message } })

const fields = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
const list = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/**
 * Readers for the fields of a server frame, in the order in which the fields take effect. Usage is read first, because
 * it arrives in the frame that ends its turn.
 */
const FIELD_READERS: { readonly [field: string]: (value: Json | undefined) => readonly LiveMessage[] } = {
  setupComplete: value => [{ type: 'setup-complete', named: stringIn(fields(value)['sessionId']) !== '' }],
  usageMetadata: value => [{ type: 'usage', usage: readUsage(fields(value)) }],
  voiceActivity: value => activity(stringIn(fields(value)['voiceActivityType'])),
  voiceActivityDetectionSignal: value => activity(stringIn(fields(value)['vadSignalType'])),
  serverContent: value => readContent(fields(value)),
  toolCall: value => {
    const { functionCalls = [] } = fields(value)
    const namedCalls = list(functionCalls).filter(({ name }) => stringIn(name) !== '')
    const messages: LiveMessage[] = namedCalls.length === 0 ? [] : [{ type: 'calls', calls: namedCalls.map(readCall) }]
    return Array.isArray(functionCalls) && functionCalls.length === namedCalls.length
      ? messages
      : [...messages, failure('The upstream sent a function call without a name.')]
  },
  toolCallCancellation: value => {
    const { ids } = fields(value)
    return [{ type: 'calls-cancelled', ids: Array.isArray(ids) ? ids.filter(id => typeof id === 'string') : [] }]
  },
  sessionResumptionUpdate: value => {
    const { newHandle, resumable } = fields(value)
    const handle = stringIn(newHandle)
    return [{ type: 'resumption', ...(resumable === true && handle !== '' ? { handle } : {}) }]
  },
  goAway: value => [{ type: 'go-away', ...secondsOf(fields(value)['timeLeft']) }],
  error: value => [{ type: 'error', error: readError(fields(value)) }],
  // Ignored: the progress of work that the model does outside the conversation.
  interactionStatus: () => [],
}

function readContent(content: JsonObject): LiveMessage[] {
  const { inputTranscription, outputTranscription, modelTurn, interrupted, turnComplete } = content
  const input = fields(inputTranscription)
  const output = stringIn(fields(outputTranscription)['text'])
  const messages: LiveMessage[] = []
  if (isObject(inputTranscription))
    messages.push({ type: 'input-transcript', text: stringIn(input['text']), finished: input['finished'] === true })
  if (output !== '') messages.push({ type: 'output-transcript', text: output })
  for (const part of list(fields(modelTurn)['parts'])) for (const one of readPart(part)) messages.push(one)
  if (interrupted === true) messages.push({ type: 'interrupted' })
  if (turnComplete === true) messages.push({ type: 'turn-complete', reason: stringIn(content['turnCompleteReason']) })
  return messages
}

/** Reads a part. Skips reasoning, which sessions cannot express, and code that the upstream itself executes. */
function readPart(part: JsonObject): LiveMessage[] {
  if (part['thought'] === true) return []
  const text = stringIn(part['text'])
  if (text !== '') return [{ type: 'text', text }]
  const { mimeType, data } = fields(part['inlineData'])
  if (!stringIn(mimeType).startsWith('audio/')) return []
  const audio = Buffer.from(stringIn(data), 'base64')
  return audio.length === 0 ? [] : [{ type: 'audio', audio }]
}

const readCall = ({ id, name, args }: JsonObject): FunctionCall => ({
  ...(typeof id === 'string' && id !== '' ? { id } : {}),
  name: stringIn(name),
  arguments: JSON.stringify(fields(args)),
})

const activity = (word: string): LiveMessage[] =>
  Object.hasOwn(ACTIVITY, word) ? [{ type: 'activity', speaking: ACTIVITY[word]! }] : []

const ACTIVITY: { readonly [word: string]: boolean } = {
  ACTIVITY_START: true,
  ACTIVITY_END: false,
  VAD_SIGNAL_TYPE_SOS: true,
  VAD_SIGNAL_TYPE_EOS: false,
}

/** Reads the seconds from a protobuf `Duration`, such as `9.5s`. */
function secondsOf(value: Json | undefined): { readonly seconds?: number } {
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(stringIn(value))?.[1]
  return seconds === undefined ? {} : { seconds: Number(seconds) }
}

function readError({ code, message, status }: JsonObject): CanonicalError {
  return {
    kind: typeof code === 'number' ? errorKindOf(code) : 'upstream-failed',
    message: stringIn(message) || 'The upstream reported an error.',
    ...(typeof status === 'string' ? { code: status.toLowerCase() } : {}),
  }
}

/**
 * Reads the usage of a turn. The answer's tokens are in `responseTokenCount`, or on Google Cloud in
 * `candidatesTokenCount`. Neither includes reasoning tokens.
 */
function readUsage(usage: JsonObject): Usage {
  const prompt = sum(usage['promptTokenCount'], usage['toolUsePromptTokenCount'])
  const reasoningTokens = count(usage['thoughtsTokenCount'])
  return defined({
    input: prompt,
    cacheRead: count(usage['cachedContentTokenCount']),
    output: sum(usage['responseTokenCount'] ?? usage['candidatesTokenCount'], reasoningTokens),
    reasoning: reasoningTokens,
    inputBy: byModality(usage['promptTokensDetails'], usage['toolUsePromptTokensDetails']),
    outputBy: byModality(usage['responseTokensDetails'] ?? usage['candidatesTokensDetails']),
    extras: Array.isArray(usage['cacheTokensDetails'])
      ? { [LIVE]: { cacheTokensDetails: usage['cacheTokensDetails'] } }
      : undefined,
  }) as Usage
}

const count = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined

function sum(...values: readonly (Json | undefined)[]): number | undefined {
  const counts = values.map(count).filter(one => one !== undefined)
  return counts.length === 0 ? undefined : counts.reduce((a, b) => a + b)
}

const MODALITIES: { readonly [name: string]: Modality } = {
  TEXT: 'text',
  AUDIO: 'audio',
  IMAGE: 'image',
  VIDEO: 'video',
}

function byModality(...details: readonly (Json | undefined)[]): Usage['inputBy'] {
  const by: { [M in Modality]?: number } = {}
  for (const { modality, tokenCount } of details.flatMap(list)) {
    const name = Object.hasOwn(MODALITIES, stringIn(modality)) ? MODALITIES[stringIn(modality)] : undefined
    if (name !== undefined) by[name] = (by[name] ?? 0) + (count(tokenCount) ?? 0)
  }
  return Object.keys(by).length === 0 ? undefined : by
}
