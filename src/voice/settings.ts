import type { ResponseSettings, VoiceSessionSettings } from '../canonical/voice-session.ts'

/** Applies a change to settings. `input` and `output` are merged field by field; all other fields are replaced. */
export function mergeSettings<S extends VoiceSessionSettings>(settings: S, change: ResponseSettings): S {
  const input = change.input === undefined ? settings.input : { ...settings.input, ...change.input }
  const output = change.output === undefined ? settings.output : { ...settings.output, ...change.output }
  return {
    ...settings,
    ...change,
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
  }
}

/**
 * States the defaults of turn detection. Clients such as OpenAI's Agents SDK cancel an interrupted response themselves
 * unless the session says that the server does it (docs/wire/realtime.md#turn-detection).
 */
export function withStatedDetection(settings: VoiceSessionSettings): VoiceSessionSettings {
  const { input } = settings
  if (input?.turnDetection == null) return settings
  return { ...settings, input: { ...input, turnDetection: { respond: true, interrupt: true, ...input.turnDetection } } }
}
