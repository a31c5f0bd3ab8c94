import { noFields, oneOf, type StrictMediaVendor } from './media-vendor.ts'

const FORM = 'groq 1.7.0 (PyPI), `TranscriptionCreateParams`; Vexa-ai/vexa#1349 (August 2026), read on 2026-12-01'

export const groqSpeech: StrictMediaVendor = {
  preset: 'groq',
  format: 'speech',
  work: 'speech',
  models: ['canopylabs/orpheus-v1-english', 'canopylabs/orpheus-arabic-saudi'],
  refusals: [
    {
      error: 'response_format must be one of [wav]',
      source: 'EKKOLearnAI/hermes-studio#2328 (August 2026), read on 2026-12-01',
      refuses: body => body.response_format !== 'wav',
      example: { response_format: 'mp3' },
      native: true,
    },
    ...noFields({ stream_format: 'audio' }, 'groq 1.7.0 (PyPI), `SpeechCreateParams`, read on 2026-12-01'),
    {
      error: 'voice must be one of the model’s',
      source: 'aj47/SpeakMCP#784 (December 2025), read on 2026-12-01',
      refuses: body => ['alloy', 'ash', 'echo', 'nova', 'verse'].includes(body.voice),
      example: { voice: 'alloy' },
      native: true,
    },
  ],
}

export const groqTranscriptions: StrictMediaVendor = {
  preset: 'groq',
  format: 'transcriptions',
  work: 'transcription',
  models: ['whisper-large-v3-turbo'],
  refusals: [
    ...noFields({ timestamp_granularities: ['word'], 'include[]': 'logprobs', 'keywords[]': ['a'] }, FORM),
    ...noFields({ stream: 'true' }, 'SubtitleEdit/subtitleedit#11123, read on 2026-12-01'),
    oneOf('response_format', ['json', 'text', 'verbose_json'], 'diarized_json', FORM),
  ],
}
