/* Voices of speech models that are served in OpenAI's format, by OpenAI's names (docs/wire/speech.md#voices). */

const OPENAI_VOICES = [
  ...['alloy', 'ash', 'ballad', 'cedar', 'coral', 'echo', 'fable', 'marin', 'nova', 'onyx', 'sage', 'shimmer', 'verse'],
]

/** Voices by OpenAI's names, in the order of `OPENAI_VOICES`. */
const byOpenAiName = (names: string): { readonly [name: string]: string } =>
  Object.fromEntries(names.split(' ').map((voice, index) => [OPENAI_VOICES[index]!, voice]))

/**
 * Most similar voices of models that lack some or all of OpenAI's voices. Any other name passes, because vendors add
 * voices.
 */
const SIMILAR_VOICES: readonly (readonly [models: RegExp, voices: { readonly [name: string]: string }])[] = [
  [
    /\borpheus-v1-english\b/i,
    byOpenAiName('hannah austin daniel troy diana austin daniel hannah autumn troy diana autumn austin'),
  ],
  [
    /\borpheus-arabic-saudi\b/i,
    byOpenAiName('lulwa fahad sultan fahad noura sultan fahad lulwa noura sultan noura lulwa fahad'),
  ],
  [/\borpheus-3b\b/i, byOpenAiName('tara dan leo zac jess dan leo mia leah zac zoe mia leo')],
  [
    /\bkokoro-82m\b/i,
    byOpenAiName(
      'af_alloy am_michael bm_george am_liam af_bella am_echo bm_fable af_heart af_nova am_onyx af_sarah af_sky am_puck',
    ),
  ],
  [
    /\bvoxtral-mini-tts\b/i,
    byOpenAiName(
      'gb_jane_neutral en_paul_neutral gb_oliver_neutral en_paul_confident gb_jane_confident en_paul_neutral ' +
        'gb_oliver_cheerful gb_jane_curious gb_jane_confident gb_oliver_confident gb_jane_neutral gb_jane_curious ' +
        'en_paul_cheerful',
    ),
  ],
  [/\btts-1(?:-hd)?\b/i, { ballad: 'fable', cedar: 'onyx', marin: 'coral', verse: 'ash' }],
]

/** Returns the voices of a model by OpenAI's names for similar ones, or undefined if it has OpenAI's or is unknown. */
export const similarVoices = (model: string): { readonly [name: string]: string } | undefined =>
  SIMILAR_VOICES.find(([models]) => models.test(model))?.[1]
