import { BufferedBytes } from '../../canonical/bytes.ts'
import { wavHeader } from '../../canonical/media/wav.ts'
import { defined } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import {
  type ConversationItem,
  type InputTranscription,
  PCM_16K,
  type VoiceSessionSettings,
} from '../../canonical/voice-session.ts'
import { messagesOf } from './messages.ts'

const text = (role: Message['role'], words: string): Message => ({ role, content: [{ type: 'text', text: words }] })

/**
 * Returns the request for a transcript.
 *
 * @param audio PCM16 at 16 kHz.
 */
export function transcriptionRequest(
  model: string,
  audio: Uint8Array,
  { language, prompt }: InputTranscription = {},
): CanonicalRequest {
  const wav = Buffer.concat([wavHeader({ rate: PCM_16K.rate, channels: 1 }, audio.length), audio])
  const source = { type: 'bytes', mediaType: 'audio/wav', bytes: new BufferedBytes(wav) } as const
  return {
    model,
    messages: [
      ...(prompt === undefined || prompt === '' ? [] : [text('system', prompt)]),
      { role: 'user', content: [{ type: 'media', kind: 'audio', name: 'speech.wav', source }] },
    ],
    output: { transcript: { task: 'transcribe', ...defined({ language }) } },
    sampling: {},
    stream: true,
  }
}

/** Returns the request for the answer to a conversation, with the session's instructions and tools. */
export function conversationRequest(
  model: string,
  settings: VoiceSessionSettings,
  items: readonly ConversationItem[],
): CanonicalRequest {
  const { instructions, tools, toolChoice, parallelToolCalls, maxTokens, temperature, reasoning } = settings
  const hasTools = tools !== undefined && tools.length > 0
  return {
    model,
    messages: [
      ...(instructions === undefined || instructions === '' ? [] : [text('system', instructions)]),
      ...messagesOf(items),
    ],
    ...(hasTools ? { tools, ...defined({ toolChoice, parallelToolCalls }) } : {}),
    output: {},
    sampling: defined({ temperature, maxTokens: maxTokens === 'unlimited' ? undefined : maxTokens }),
    ...defined({ reasoning }),
    stream: true,
  }
}

export interface SpeechSettings {
  readonly voice?: string
  readonly speed?: number
}

/** Returns the request for the speech of one sentence as raw samples at 24 kHz. */
export const speechRequest = (model: string, sentence: string, settings: SpeechSettings): CanonicalRequest => ({
  model,
  messages: [text('user', sentence)],
  output: { modalities: ['audio'], audio: { ...settings, mediaType: 'audio/pcm' } },
  sampling: {},
  stream: true,
})
