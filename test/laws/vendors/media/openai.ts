import { noFields, oneOf, type StrictMediaVendor } from './media-vendor.ts'

const PARAMETER = 'skalesapp/skales#280 (September 2026, probes), read on 2026-12-01'

/** A size that clients send: pixels, a class, or both a ratio and a class. */
const isSize = (size: string): boolean => /^\d+x\d+$|K$|^512$/.test(size)

const SIZES = ['auto', '1024x1024', '1536x1024', '1024x1536']

export const openaiImages: StrictMediaVendor = {
  preset: 'openai',
  format: 'images',
  work: 'image',
  models: ['gpt-image-2', 'gpt-image-1.5', 'gpt-image-1-mini'],
  refusals: [
    ...noFields({ response_format: 'b64_json', style: 'vivid' }, PARAMETER),
    oneOf(
      'quality',
      ['auto', 'low', 'medium', 'high', 'xhigh', 'max'],
      'hd',
      'openai 3.57.0 (PyPI), read on 2026-12-01',
    ),
    {
      error: "The model 'gpt-image-2' does not support the 'input_fidelity' parameter.",
      source: 'pydantic/pydantic-ai#5413 (May 2026), read on 2026-12-01',
      refuses: (body, model) => /gpt-image-2/.test(model) && body.input_fidelity !== undefined,
      example: { images: [{ image_url: 'https://example.com/a.png' }], input_fidelity: 'high' },
      path: '/v1/images/edits',
      native: true,
    },
    {
      error: 'Invalid size: supported sizes are 1024x1024, 1024x1536, 1536x1024, and auto',
      source: 'nextcloud/integration_openai#423 (2026), read on 2026-12-01',
      refuses: ({ size }, model) =>
        size !== undefined && (/gpt-image-1/.test(model) ? isSize(size) && !SIZES.includes(size) : /K$/.test(size)),
      example: { size: '1792x1024' },
      native: true,
    },
  ],
}

export const openaiSpeech: StrictMediaVendor = {
  preset: 'openai',
  format: 'speech',
  work: 'speech',
  models: ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'],
  refusals: [
    oneOf(
      'response_format',
      ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'],
      'raw',
      'openai 3.57.0 (PyPI), `SpeechCreateParams`, read on 2026-12-01',
    ),
    {
      error: 'voice is not one of those of the model',
      source: 'withceleste/celeste-python#385 (September 2026), read on 2026-12-01',
      refuses: (body, model) => /^tts-1/.test(model) && ['ballad', 'cedar', 'marin', 'verse'].includes(body.voice),
      example: { voice: 'marin' },
      native: true,
    },
  ],
}

/** Only whisper-1 translates, so that other models refuse the path whatever the form holds. */
const isTranslation = (path: string): boolean => path.endsWith('/translations')

export const openaiTranscriptions: StrictMediaVendor = {
  preset: 'openai',
  format: 'transcriptions',
  work: 'transcription',
  models: ['gpt-transcribe', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'gpt-4o-transcribe-diarize'],
  refusals: [
    {
      error: "response_format 'verbose_json' is not compatible with model",
      source: 'michaelwilhelmsen/humla#128 (July 2026, probes), lfnovo/esperanto#263, read on 2026-12-01',
      refuses: (body, _model, { path }) => !isTranslation(path) && body.response_format === 'verbose_json',
      example: { response_format: 'verbose_json' },
      native: true,
    },
    {
      error: 'chunking_strategy is required for diarization models',
      source: 'TanStack/ai#651 (2026), read on 2026-11-30',
      refuses: (body, model, { path }) =>
        /diarize/.test(model) && !isTranslation(path) && body.chunking_strategy === undefined,
      example: {},
      native: true,
    },
  ],
}
