import type { Part } from '../../canonical/content.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { type CanonicalRequest, isInstructing, type Message, type Output } from '../../canonical/request.ts'
import { workOf } from '../../canonical/work.ts'
import { voiceOf } from '../media/voices.ts'
import type { WriteContext } from './fields.ts'

/* Speech by a conversational model. The format has no field for speech instructions, so they precede the text. */

/** Puts the instructions at the start of the text, as in `Say cheerfully: …`. Message indexes do not change. */
export function withSpokenInstructions(request: CanonicalRequest, { losses }: WriteContext): CanonicalRequest {
  if (workOf(request) !== 'speech') return request
  const messages = request.messages.map((message, index): Message => {
    if (!isInstructing(message.role)) return message
    losses.change(['messages', index, 'role'], 'user', 'instructions-in-the-text')
    const lastTextIndex = message.content.findLastIndex(part => part.type === 'text' && part.text.trim() !== '')
    const content = message.content.map((part, at): Part => {
      if (at !== lastTextIndex || part.type !== 'text') return part
      const text = `${withoutEndSigns(part.text)}: `
      if (text !== part.text)
        losses.change(['messages', index, 'content', at, 'text'], text, 'instructions-in-the-text')
      return { ...part, text }
    })
    return { ...message, role: 'user', content }
  })
  return { ...request, messages }
}

const END_SIGN = /[\s.:;]/

/** Removes signs at the end of a sentence. One regular expression for all of them would take quadratic time. */
function withoutEndSigns(text: string): string {
  let end = text.length
  while (end > 0 && END_SIGN.test(text[end - 1]!)) end--
  return text.slice(0, end)
}

/** Audio format of speaking models: raw samples at 24 kHz. */
const RAW_TYPE = 'audio/pcm'
/** Containers that the gateway can create from raw samples. */
const AVAILABLE_CONTAINERS: ReadonlySet<string | undefined> = new Set([undefined, 'audio/wav', 'audio/mpeg'])

/** Voice for requests without a voice, which speech models from Gemini 3.1 on refuse (genkit#5489, read on 2026-12-01). */
const DEFAULT_VOICE = 'Kore'

/**
 * Writes `speechConfig`. If the gateway cannot create the requested container from raw samples, the request is refused
 * for that loss.
 */
export function writeVoice(request: CanonicalRequest, { dialect, losses }: WriteContext): JsonObject | undefined {
  const { audio } = request.output
  const isSpeechRequest = workOf(request) === 'speech'
  const fallback = isSpeechRequest ? { fallback: DEFAULT_VOICE } : {}
  const voice = audio === undefined && !isSpeechRequest ? undefined : voiceOf(request, dialect, losses, fallback)
  losses.dropFields(audio, ['output', 'audio'], { speed: 'no-speed' })
  if (isSpeechRequest) reportContainer(audio, voice, losses)
  else losses.dropFields(audio, ['output', 'audio'], { mediaType: 'no-choice-of-media-type' })
  return voice === undefined ? undefined : { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } }
}

function reportContainer(audio: Output['audio'], voice: string | undefined, losses: WriteContext['losses']): void {
  const path = ['output', 'audio', 'mediaType']
  const requestedType = audio?.mediaType
  if (requestedType === RAW_TYPE) return
  if (audio === undefined && voice === undefined)
    losses.changeRestored(['output', 'audio'], { mediaType: RAW_TYPE }, 'raw-samples')
  else if (AVAILABLE_CONTAINERS.has(requestedType)) losses.changeRestored(path, RAW_TYPE, 'raw-samples')
  else losses.change(path, RAW_TYPE, 'mp3-wav-or-pcm-only')
}
