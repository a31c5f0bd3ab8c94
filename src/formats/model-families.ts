import type { Format, JsonObject } from '../canonical/node.ts'
import { claudeDialect } from './claude-families.ts'
import { FLAGS as CONVERSE_FLAGS } from './dialects/converse.ts'
import { effortDialect } from './effort-families.ts'
import { geminiDialect } from './gemini-families.ts'
import { converseClaude, hostedClaude, hostedFamily } from './hosted-families.ts'
import { takesTextOnly } from './text-only-models.ts'

/* What models take, by their names, as dialect flags of each format (docs/development/facts-about-models.md). */

/**
 * Matches Cohere's thinking models (docs.cohere.com, "Reasoning" and the release notes of Command A+, read on
 * 2026-11-28).
 */
const THINKING_COHERE_MODELS = /command-a-(?:reasoning|plus)/

/** Returns the flags of a model's settings, by its name in lower case and the flags of its channel. */
type FamilyLookup = (name: string, channelDialect: JsonObject) => JsonObject | undefined

/** Formats in which the settings that a model takes follow from its name. */
const LOOKUPS: { readonly [format: Format]: FamilyLookup } = {
  messages: messagesDialect,
  converse: hostedDialect,
  chat: effortDialect,
  responses: effortDialect,
  'cohere-chat': name => (THINKING_COHERE_MODELS.test(name) ? { thinks: true } : undefined),
  contents: (name, { vertex }) => geminiDialect(name, vertex === true),
  interactions: interactionsDialect,
}

/**
 * Matches models of other vendors that always think and refuse `disabled` in messages, too: "invalid thinking: only
 * type=enabled is allowed for this model" (MoonshotAI/Kimi-K2#141); Kimi K3 and GLM-5.3 as in `effort-families.ts`.
 * Fireworks writes the dot of a version as `p`.
 */
const ALWAYS_THINKING = /kimi-k2[.p]7-code|kimi-k[3-9]|glm-(?:5[.p][3-9]|[6-9])/

/**
 * Returns the flags of one of Anthropic's models, at Bedrock (InvokeModel) with those that it has only there, or of a
 * model of another vendor.
 */
function messagesDialect(name: string, { bedrock }: JsonObject): JsonObject | undefined {
  const claude = claudeDialect(name)
  if (claude === undefined) return ALWAYS_THINKING.test(name) ? { thinking_off: 'refused' } : undefined
  return bedrock === true ? { ...claude, ...hostedClaude(name) } : claude
}

/** Returns the flags of one of Google's models that Interactions has, too. */
function interactionsDialect(name: string): JsonObject | undefined {
  const media = geminiDialect(name, false)?.['result_media']
  return media === undefined ? undefined : { result_media: media }
}

/**
 * Returns the flags of a model hosted on Bedrock: those of Claude's flags that Converse has, or those of another vendor.
 */
function hostedDialect(name: string): JsonObject | undefined {
  const claude = claudeDialect(name)
  if (claude === undefined) return hostedFamily(name)
  const flags = Object.entries(claude).filter(([flag]) => Object.hasOwn(CONVERSE_FLAGS, flag))
  const thinkingOff = claude['thinking_off'] === 'between_tools' ? { thinking_off: 'never' } : {}
  const hosted = { ...converseClaude(name), ...hostedClaude(name), top_k: claude['sampling'] !== 'none' }
  return { ...Object.fromEntries(flags), ...thinkingOff, ...hosted }
}

/**
 * Returns true if callers of the format do not choose settings for this model. Claude Code sends the settings of Claude
 * to every model, such as `thinking: disabled` of its subagents.
 */
export const getsOthersSettings = (format: Format, model: string): boolean =>
  format === 'messages' && ALWAYS_THINKING.test(model.toLowerCase())

/**
 * Returns the dialect flags for a model, by its name, or undefined for an unknown family: those of its settings, and
 * `images` if the model takes text only.
 *
 * @param channelDialect the channel's own flags, of which some decide what a family takes.
 */
export function familyDialect(format: Format, model: string, channelDialect?: JsonObject): JsonObject | undefined {
  const settings = settingsDialect(format, model, channelDialect)
  return takesTextOnly(format, model) ? { ...settings, ...TEXT_ONLY } : settings
}

/** Dialect flags of models that take text only. */
export const TEXT_ONLY = { images: false } as const

/**
 * Returns the dialect flags of a model's settings, by its name, or undefined for an unknown family, which in `messages`
 * means any model that is not Anthropic's.
 *
 * @param channelDialect the channel's own flags, of which some decide what a family takes.
 */
export const settingsDialect = (
  format: Format,
  model: string,
  channelDialect: JsonObject = {},
): JsonObject | undefined => LOOKUPS[format]?.(model.toLowerCase(), channelDialect)
