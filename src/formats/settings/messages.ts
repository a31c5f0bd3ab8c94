import { settingsOf } from '../../canonical/settings.ts'

/**
 * Settings of a messages request (docs/wire/messages.md#sampling). The supported sampling fields depend on thinking and
 * the model.
 */
export const SETTINGS = settingsOf({ temperature: 'temperature', topP: 'top_p', topK: 'top_k' }, [
  ...(['maxTokens', 'temperature', 'topP', 'topK', 'candidates'] as const),
  ...(['parallelToolCalls', 'serviceTier', 'endUser'] as const),
])
