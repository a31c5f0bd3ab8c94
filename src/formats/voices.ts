/*
 * Voices by the names that callers use: the vendor's own names, and OpenAI's names for the vendor's most similar
 * voices.
 */

const GOOGLE_VOICE_NAMES = [
  ...['Achernar', 'Achird', 'Algenib', 'Algieba', 'Alnilam', 'Aoede', 'Autonoe', 'Callirrhoe', 'Charon', 'Despina'],
  ...['Enceladus', 'Erinome', 'Fenrir', 'Gacrux', 'Iapetus', 'Kore', 'Laomedeia', 'Leda', 'Orus', 'Puck'],
  ...['Pulcherrima', 'Rasalgethi', 'Sadachbia', 'Sadaltager', 'Schedar', 'Sulafat', 'Umbriel', 'Vindemiatrix'],
  ...['Zephyr', 'Zubenelgenubi'],
]

/** All prebuilt voices of Gemini's speech models, by name. */
export const GOOGLE_VOICES: { readonly [name: string]: string } = {
  ...Object.fromEntries(GOOGLE_VOICE_NAMES.map(name => [name, name])),
  ...{ alloy: 'Kore', ash: 'Orus', ballad: 'Enceladus', cedar: 'Algieba', coral: 'Leda', echo: 'Puck' },
  ...{ fable: 'Fenrir', marin: 'Sulafat', nova: 'Zephyr', onyx: 'Charon', sage: 'Callirrhoe', shimmer: 'Aoede' },
  verse: 'Umbriel',
}

/** Ids of ElevenLabs' ready-made voices, by name. Custom voices are requested by id. */
const READY_MADE_VOICES = {
  ...{ Alice: 'Xb7hH8MSUJpSbSDYk0k2', Bill: 'pqHfZKP75CvOlQylNhV4', Brian: 'nPczCjzI2devNBz1zQrb' },
  ...{ Callum: 'N2lVS1w4EtoT3dr4eOWO', Charlie: 'IKne3meq5aSn9XLyUdCD', Chris: 'iP95p4xoKVk53GoZ742B' },
  ...{ Daniel: 'onwK4e9ZLuTAKqWW03F9', Eric: 'cjVigY5qzO86Huf0OWal', George: 'JBFqnCBsd6RMkjVDRZzb' },
  ...{ Jessica: 'cgSgspJ2msm6clMCkdW9', Laura: 'FGY2WhTYpPnrIDTdsKH5', Liam: 'TX3LPaxmHKxFdv7VOQHJ' },
  ...{ Lily: 'pFZP5JQG7iQjIQuC4Bku', Matilda: 'XrExE9yKIg1WjnnlVkGX', River: 'SAz9YHcvj6GT2YYXdXww' },
  ...{ Sarah: 'EXAVITQu4vr4xnSDxMaL', Will: 'bIHbv24MWmeRgasZH58o' },
} as const

/** ElevenLabs' voice ids by callers' names. */
export const ELEVENLABS_VOICES: { readonly [name: string]: string } = {
  ...READY_MADE_VOICES,
  ...{
    alloy: READY_MADE_VOICES.River,
    ash: READY_MADE_VOICES.Eric,
    ballad: READY_MADE_VOICES.Callum,
    cedar: READY_MADE_VOICES.Brian,
  },
  ...{
    coral: READY_MADE_VOICES.Jessica,
    echo: READY_MADE_VOICES.Liam,
    fable: READY_MADE_VOICES.George,
    marin: READY_MADE_VOICES.Matilda,
  },
  ...{
    nova: READY_MADE_VOICES.Sarah,
    onyx: READY_MADE_VOICES.Bill,
    sage: READY_MADE_VOICES.Alice,
    shimmer: READY_MADE_VOICES.Lily,
  },
  verse: READY_MADE_VOICES.Chris,
}

/** ElevenLabs' voice for requests without a voice. */
export const ELEVENLABS_DEFAULT_VOICE: string = READY_MADE_VOICES.George
