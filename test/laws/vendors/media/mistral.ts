import { noFields, oneOf, type StrictMediaVendor } from './media-vendor.ts'

const SDK = 'mistralai 3.7.0 (PyPI), `SpeechRequest`; LiteLLM 1.110.2, `mistral/audio_speech`, read on 2026-12-01'

export const mistralSpeech: StrictMediaVendor = {
  preset: 'mistral',
  format: 'speech',
  work: 'speech',
  models: ['voxtral-mini-tts-2603'],
  refusals: [
    ...noFields({ voice: 'alloy', instructions: 'Whisper.', speed: 2, stream_format: 'audio' }, SDK),
    oneOf('response_format', ['mp3', 'wav', 'flac', 'opus'], 'aac', `${SDK}; pcm is of floating-point numbers`),
    {
      error: "Voice 'alloy' not found",
      source: 'pipecat-ai/docs#891 (June 2026), read on 2026-12-01',
      refuses: body => ['alloy', 'ash', 'nova', 'onyx', 'verse'].includes(body.voice_id),
      example: { voice_id: 'alloy' },
      native: true,
    },
    {
      error: 'voice_id or ref_audio is required',
      source: SDK,
      refuses: body => body.voice_id === undefined && body.ref_audio === undefined,
      example: {},
    },
  ],
}
