import { Budget } from '../../../canonical/budget.ts'
import { foreignLosses, Losses, lose, type Path } from '../../../canonical/loss.ts'
import type { JsonObject } from '../../../canonical/node.ts'
import { narrowed } from '../../../canonical/openapi-schema.ts'
import type { Effort } from '../../../canonical/request.ts'
import type { Tool } from '../../../canonical/tool.ts'
import type {
  ConversationItem,
  ResponseSettings,
  TurnDetection,
  VoiceSessionSettings,
} from '../../../canonical/voice-session.ts'
import type { ClientEvent } from '../../../canonical/voice-session-event.ts'
import type { LiveDialect } from './dialect.ts'
import { DEFAULT_THRESHOLD, speaks, voiceOf } from './setup.ts'
import { LIVE } from './wire.ts'

/**
 * Returns the losses of a client event in this format, regardless of earlier events. A response that repeats the
 * settings of `session` loses nothing.
 */
export function clientLosses(event: ClientEvent, session: VoiceSessionSettings, dialect: LiveDialect): Losses {
  const losses = new Losses()
  if (event.type === 'audio-append') return losses
  losses.report(foreignLosses(event, LIVE))
  switch (event.type) {
    case 'session-update':
      settingsLosses(event.settings, dialect, losses)
      break
    case 'response-create':
      if (event.settings !== undefined) responseLosses(event.settings, session, losses)
      break
    case 'item-create':
      itemLosses(event.item, losses)
      break
    case 'item-truncate':
      // All audio that an interrupted upstream has sent remains in its history, so truncation is not possible.
      losses.drop(['audioEndMs'], 'no-truncation')
      break
  }
  return losses
}

/**
 * Returns the settings that take effect at the upstream, for the answer to an update. Unsupported settings and the
 * transcription model are removed. Nearly every client names a transcription model; ignoring it is not a loss, because
 * the upstream uses its own.
 */
export function effectiveSettings(settings: VoiceSessionSettings, dialect: LiveDialect): VoiceSessionSettings {
  const losses = new Losses()
  settingsLosses(settings, dialect, losses)
  if (settings.input?.transcription?.model !== undefined)
    losses.dropRestored(['settings', 'input', 'transcription', 'model'], 'no-transcription-model')
  return losses.list.length === 0 ? settings : lose({ settings }, losses.list).settings
}

const LOSS_REASONS = { parallelToolCalls: 'no-parallel-control', purpose: 'no-transcription-sessions' }

function settingsLosses(settings: VoiceSessionSettings, dialect: LiveDialect, losses: Losses): void {
  const path = ['settings']
  const { tools = [], toolChoice, reasoning, input, output } = settings
  if (dialect.transcribes) losses.dropFields(settings, path, TRANSCRIBES_ONLY)
  const implied = { parallelToolCalls: true, purpose: dialect.transcribes ? 'transcription' : 'conversation' } as const
  for (const field of ['parallelToolCalls', 'purpose'] as const)
    if (settings[field] !== undefined && settings[field] !== implied[field])
      losses.drop([...path, field], LOSS_REASONS[field])
  const budget = new Budget()
  for (const [index, tool] of (dialect.transcribes ? [] : tools).entries())
    toolLosses(tool, [...path, 'tools', index], losses, budget)
  if (toolChoice !== undefined && (toolChoice.mode === 'required' || toolChoice.only !== undefined))
    losses.drop([...path, 'toolChoice'], 'no-tool-choice')
  if (reasoning !== undefined && dialect.thinking === undefined) losses.drop([...path, 'reasoning'], 'no-reasoning')
  if (dialect.thinking === 'required' && isBelowLow(reasoning?.effort))
    losses.change([...path, 'reasoning', 'effort'], 'low', 'reasons-always')
  if (!speaks(settings) && dialect.audioOnly) losses.change([...path, 'modalities'], ['audio'], 'transcript-as-text')
  if (input?.transcription) losses.dropFields(input.transcription, [...path, 'input', 'transcription'], NO_PROMPT)
  if (input?.noiseReduction) losses.drop([...path, 'input', 'noiseReduction'], 'no-noise-reduction')
  if (input?.turnDetection) detectionLosses(input.turnDetection, [...path, 'input', 'turnDetection'], losses)
  if (output?.speed !== undefined && output.speed !== 1) losses.drop([...path, 'output', 'speed'], 'no-speed')
  const { voice } = output ?? {}
  const upstreamVoice = voiceOf(voice, dialect)
  if (voice !== undefined && upstreamVoice !== voice) {
    if (upstreamVoice === undefined) losses.drop([...path, 'output', 'voice'], 'no-such-voice')
    else losses.change([...path, 'output', 'voice'], upstreamVoice, 'voice-of-the-upstream')
  }
}

/** Settings of answers, which a model that only transcribes does not give. */
const TRANSCRIBES_ONLY = Object.fromEntries(
  ['instructions', 'tools', 'temperature', 'maxTokens'].map(field => [field, 'transcribes-only']),
)

const isBelowLow = (effort: Effort | undefined): boolean => effort === 'none' || effort === 'minimal'

const NO_PROMPT = { prompt: 'no-transcription-prompt' }

function toolLosses(tool: Tool, path: Path, losses: Losses, budget: Budget): void {
  if (tool.type === 'freeform') losses.drop(path, 'no-freeform-tools')
  if (tool.type === 'function' && tool.strict === true) losses.drop([...path, 'strict'], 'no-strict-tools')
  if (tool.type === 'function' && tool.parameters !== undefined) schemaLosses(tool.parameters, path, losses, budget)
  if (tool.type === 'hosted') losses.dropFields(tool, path, NO_HOSTED_SETTINGS)
}

/** Reports a schema that the format's subset cannot express. */
function schemaLosses(schema: JsonObject, path: Path, losses: Losses, budget: Budget): void {
  const subset = narrowed(schema, budget)
  if (JSON.stringify(subset) !== JSON.stringify(schema))
    losses.change([...path, 'parameters'], subset, 'schema-narrowed')
}

const NO_HOSTED_SETTINGS = {
  allowedDomains: 'no-domains',
  blockedDomains: 'no-domains',
  maxUses: 'no-limit-of-uses',
  contextSize: 'no-context-size',
  location: 'no-location',
}

function detectionLosses(detection: TurnDetection, path: Path, losses: Losses): void {
  if (detection.respond === false) losses.drop([...path, 'respond'], 'always-responds')
  if (detection.type === 'semantic') {
    losses.change([...path, 'type'], 'silence', 'no-semantic-detection')
    return
  }
  const { threshold } = detection
  if (threshold !== undefined && threshold !== DEFAULT_THRESHOLD)
    losses.change([...path, 'threshold'], threshold < DEFAULT_THRESHOLD ? 'high' : 'low', 'two-sensitivities')
  // The upstream's `prefixPaddingMs` is not equivalent: it makes the upstream ignore speech that is shorter than the
  // padding.
  losses.dropFields(detection, path, { prefixMs: 'no-prefix', idleMs: 'no-idle-timeout' })
}

/** Settings that affect only a single response. */
const RESPONSE_FIELDS: ReadonlySet<string> = new Set(['metadata', 'model', 'extras', 'spelling', 'context', 'detached'])

function responseLosses(settings: ResponseSettings, session: VoiceSessionSettings, losses: Losses): void {
  const before = session as { readonly [field: string]: unknown }
  for (const [field, value] of Object.entries(settings)) {
    if (RESPONSE_FIELDS.has(field) || JSON.stringify(value) === JSON.stringify(before[field])) continue
    if (field === 'modalities' && speaks(settings) === speaks(session)) continue
    if (field === 'instructions') losses.change(['settings', field], value, 'as-a-turn-of-the-user')
    else losses.drop(['settings', field], 'settings-of-the-session')
  }
}

function itemLosses({ role, content }: ConversationItem, losses: Losses): void {
  if (role === 'system' || role === 'developer') losses.change(['item', 'role'], 'user', 'no-system-turns')
  for (const [index, part] of content.entries()) {
    const path = ['item', 'content', index]
    if (part.type === 'media' && part.source.type !== 'base64') losses.drop(path, 'no-addresses')
    if (part.type !== 'tool-result') continue
    for (const [at, one] of part.content.entries())
      if (one.type !== 'text' && one.type !== 'opaque') losses.drop([...path, 'content', at], 'text-results-only')
  }
}
