/** Features of a Live model (docs/wire/live.md#models). */
export interface LiveModel {
  /** Setting for the reasoning effort. `required`: the model refuses a setup without a level. Undefined: it refuses any. */
  readonly thinking: 'level' | 'budget' | 'required' | undefined
  /** True if the model refuses `TEXT` as a response modality. */
  readonly audioOnly: boolean
  /** Form of text after the model's first turn. */
  readonly lateText: 'content' | 'realtime'
  /**
   * Behavior of function calls: the model waits for results (`blocking`), waits if the declaration says so (`declared`),
   * or goes on talking (`asynchronous`).
   */
  readonly calls: 'blocking' | 'declared' | 'asynchronous'
  /** True if turns may contain calls and results of earlier sessions. Other models close the connection or forget them. */
  readonly callsInTurns: boolean
  /** True if turns may contain audio. Other models close the connection. */
  readonly audioInTurns: boolean
  /** True if the model only transcribes: it answers `TEXT` and takes settings of the transcript alone. */
  readonly transcribes: boolean
  /** True if the model completes a turn with its calls at Google Cloud. Others complete it after the results. */
  readonly completesCallsAtCloud: boolean
}

/** Models of Google Cloud whose speech is made from text, and models of unknown names. */
const DEFAULT_MODEL: LiveModel = {
  thinking: undefined,
  audioOnly: false,
  lateText: 'content',
  calls: 'blocking',
  callsInTurns: false,
  audioInTurns: false,
  transcribes: false,
  completesCallsAtCloud: true,
}

const NATIVE_AUDIO: LiveModel = {
  ...DEFAULT_MODEL,
  thinking: 'budget',
  audioOnly: true,
  completesCallsAtCloud: false,
}

const THIRD_GENERATION: LiveModel = { ...NATIVE_AUDIO, thinking: 'level', lateText: 'realtime', audioInTurns: true }

const SINCE_3_8: LiveModel = {
  ...THIRD_GENERATION,
  thinking: undefined,
  lateText: 'content',
  calls: 'declared',
  callsInTurns: true,
}

const EXTENDED_THINKING: LiveModel = { ...SINCE_3_8, thinking: 'required', calls: 'asynchronous' }

const TRANSCRIBER: LiveModel = { ...DEFAULT_MODEL, transcribes: true }

/** Model families. The first match counts. */
const FAMILIES: readonly (readonly [pattern: RegExp, model: LiveModel])[] = [
  [/transcribe/, TRANSCRIBER],
  [/gemini-(?:3\.(?:[89]|\d\d)|[4-9]).{0,60}-extended-thinking/, EXTENDED_THINKING],
  [/gemini-(?:3\.(?:[89]|\d\d)|[4-9])/, SINCE_3_8],
  [/gemini-3/, THIRD_GENERATION],
  [/native-audio/, NATIVE_AUDIO],
]

/** Returns the facts about a model, from its name. */
export const liveModel = (name: string): LiveModel =>
  FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? DEFAULT_MODEL
