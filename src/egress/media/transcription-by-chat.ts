import { type Loss, Losses, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { workOf } from '../../canonical/work.ts'
import type { WriteOptions, Writer } from '../writer.ts'

type RequestWriter = NonNullable<Writer['request']>
type TranscriptOutput = NonNullable<Output['transcript']>

/**
 * Adds transcription to a conversation format: sends the recording to the model with an instruction. If the format's
 * models support times and speakers, requests them as an object with a schema. The answer's reader converts it back to
 * a transcript (ingress/media/transcription-by-chat.ts).
 */
export const transcriptionByChat =
  (write: RequestWriter, { times }: { readonly times: boolean }): RequestWriter =>
  (request: CanonicalRequest, options: WriteOptions): Written<WireRequest> => {
    if (workOf(request) !== 'transcription') return write(request, options)
    const losses = new Losses()
    const written = write(asConversation(request, times, losses), options)
    return { ...written, losses: [...losses.list, ...written.losses.map(markUnrequested)] }
  }

/** Marks losses of the recording's file name and of the schema as restored, because the caller requested neither. */
const markUnrequested = (loss: Loss): Loss =>
  UNREQUESTED_PATHS.test(loss.path.join('/')) ? { ...loss, restored: true } : loss

const UNREQUESTED_PATHS = /^output\/text\/|^messages\/\d+\/content\/\d+\/name$/

/** Converts the request to a conversation that asks for the transcript. */
function asConversation(request: CanonicalRequest, times: boolean, losses: Losses): CanonicalRequest {
  const { transcript, ...output } = request.output
  const usesSegments = wantsSegments(transcript!, times, losses)
  losses.dropRestored(['output', 'transcript'], 'asked-in-words')
  const messages = withInstruction(request.messages, instruction(transcript!, usesSegments), losses)
  if (!usesSegments) return { ...request, messages, output }
  const text = { shape: 'schema', schema: schemaFor(transcript!), name: 'transcript' } as const
  losses.addRestored(['output', 'text'], text, 'asked-in-words')
  if (request.stream) losses.changeRestored(['stream'], false, 'answered-whole')
  return { ...request, messages, output: { ...output, text }, stream: false }
}

/** Inserts the instruction after the recording, at the end of the last user turn. */
function withInstruction(
  messages: CanonicalRequest['messages'],
  text: string,
  losses: Losses,
): CanonicalRequest['messages'] {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const { content, ...turn } = messages[last] ?? { role: 'user', content: [] }
  const value = { type: 'text', text } as const
  const path = ['messages', Math.max(last, 0), 'content', content.length]
  losses.list.push({ kind: 'inserted', path, value, reason: 'asked-in-words', restored: true })
  return messages.with(Math.max(last, 0), { ...turn, content: [...content, value] })
}

/**
 * Returns true if segments should be requested, because the caller wants times, speakers or both. Reports times or
 * speakers as lost if the models do not support them.
 */
function wantsSegments({ timestamps, speakers }: TranscriptOutput, times: boolean, losses: Losses): boolean {
  if (timestamps === undefined && speakers !== true) return false
  const path = ['output', 'transcript']
  if (times) {
    if (timestamps?.includes('word')) losses.change([...path, 'timestamps'], ['segment'], 'no-times-of-words')
    return true
  }
  if (timestamps !== undefined) losses.drop([...path, 'timestamps'], 'no-times')
  if (speakers === true) losses.drop([...path, 'speakers'], 'no-speakers')
  return false
}

const TASKS: { readonly [T in TranscriptOutput['task']]: string } = {
  transcribe: 'Write down what is said in this recording, word for word, in the language it is said in.',
  translate: 'Translate what is said in this recording into English, all of it.',
}

/** Returns the instruction for the model, in English. */
function instruction({ task, language, keywords, speakers }: TranscriptOutput, usesSegments: boolean): string {
  const sentences = [TASKS[task]]
  if (language !== undefined) sentences.push(`The language spoken is "${language}".`)
  if (keywords !== undefined && keywords.length > 0) sentences.push(`These words may occur: ${keywords.join(', ')}.`)
  sentences.push(usesSegments ? SEGMENTS_INSTRUCTION : PLAIN_TEXT_INSTRUCTION)
  if (speakers === true) sentences.push(SPEAKERS_INSTRUCTION)
  return sentences.join(' ')
}

const PLAIN_TEXT_INSTRUCTION =
  'Answer with that text alone, without any words of your own; where nothing is said, answer nothing.'
const SEGMENTS_INSTRUCTION =
  'Divide it into segments of a sentence or less. Tell when each starts and ends, counted from the beginning of the ' +
  'recording, as minutes, seconds and milliseconds like 01:02.345.'
const SPEAKERS_INSTRUCTION = 'Begin a new segment with each change of speaker, and name who speaks A, B and so on.'

const CLOCK = { type: 'string', description: 'Minutes, seconds and milliseconds: 01:02.345' } as const
const TEXT = { type: 'string' } as const

/** Returns the schema of a transcript in segments. */
function schemaFor({ speakers }: TranscriptOutput): JsonObject {
  const fields = { start: CLOCK, end: CLOCK, ...(speakers === true ? { speaker: TEXT } : {}), text: TEXT }
  const segment = { type: 'object', properties: fields, required: Object.keys(fields) }
  const language = { type: 'string', description: 'ISO 639-1 code of the language spoken' }
  return {
    type: 'object',
    properties: { language, segments: { type: 'array', items: segment } },
    required: ['language', 'segments'],
  }
}
