import { foreign, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, State } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { spelt } from '../fields.ts'
import { Budget } from '../sanitize/budget.ts'
import { type SanitizeRule, sanitize, unchanged } from '../sanitize/names.ts'
import type { WriteOptions } from '../writer.ts'
import { contentsDialect } from './dialect.ts'
import { FORMAT, type WriteContext, withExtras } from './fields.ts'
import { writeGeneration } from './generation.ts'
import { writeTurns } from './messages.ts'
import { withSpokenInstructions } from './speech.ts'
import { writeToolConfig, writeTools } from './tools.ts'

const RULE: SanitizeRule = { name: 64, letterFirst: true, id: 64, freeform: false, namespaces: false }

/** The canonical request as `POST …/models/{model}:generateContent` or `:streamGenerateContent` (FORMATS §7, §16). */
export function writeRequest(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const { request, losses, renamed } = options.native ? unchanged(original) : sanitize(original, RULE)
  if (!options.native) losses.report(foreign(request, FORMAT))
  const context: WriteContext = {
    dialect: contentsDialect(options.dialect),
    native: options.native,
    losses,
    budget: new Budget(),
  }
  const { systemInstruction, contents } = writeTurns(withSpokenInstructions(request, context).messages, context)
  const marks = spelt(request, FORMAT)
  const tools = writeTools(request, context)
  const body = withExtras(request, {
    model: context.native ? modelOf(marks['model'], request.model) : undefined,
    systemInstruction,
    contents: context.native && marks['contents'] === 'single' ? contents[0] : contents,
    tools,
    toolConfig: writeToolConfig(request, tools !== undefined, context),
    generationConfig: writeGeneration(request, context),
    labels: writeLabels(request.metadata, context),
    serviceTier: writeTier(request.serviceTier, marks, context),
  })
  reportSettings(request, context)
  const wire = {
    path: pathOf(request, request.stream ? 'streamGenerateContent' : 'generateContent', context),
    query: queryOf(request, context),
    headers: {},
    body,
  }
  return { wire, losses: losses.list, renamed }
}

/** Google's cloud has the API version and the project in its base address; the Gemini API has the version here. */
export function pathOf(
  request: CanonicalRequest,
  method: string,
  { native, dialect }: Omit<WriteContext, 'losses' | 'budget'>,
): string {
  const { prefix } = (native ? spelt(request, FORMAT) : {}) as { prefix?: string }
  const fits = prefix !== undefined && (!dialect.vertex || prefix.includes('/publishers/'))
  const before = fits ? prefix : dialect.vertex ? '/models/' : '/v1beta/models/'
  return `${before}${encoded(request.model)}:${method}`
}

/** Slashes stay as they are, unless an empty segment could be dropped. */
function encoded(model: string): string {
  const whole = encodeURIComponent(model.toWellFormed()).replaceAll('%3A', ':')
  return model.split('/').includes('') ? whole : whole.replaceAll('%2F', '/')
}

/** The model in the body, with the prefix it had there. */
export const modelOf = (before: Json | undefined, model: string): string | undefined =>
  typeof before === 'string' ? `${before}${model}` : undefined

/** A stream is always requested as server-sent events; the JSON array is the caller's framing. */
function queryOf(request: CanonicalRequest, { native }: WriteContext): { readonly [name: string]: string } {
  const query = native ? (spelt(request, FORMAT)['query'] as { [name: string]: string } | undefined) : undefined
  return { ...query, ...(request.stream ? { alt: 'sse' } : {}) }
}

function writeLabels(
  metadata: JsonObject | undefined,
  { native, dialect, losses }: WriteContext,
): JsonObject | undefined {
  if (metadata === undefined || native) return metadata
  if (dialect.vertex) {
    const labels = Object.entries(metadata).filter(([, value]) => typeof value === 'string')
    for (const [key, value] of Object.entries(metadata))
      if (typeof value !== 'string') losses.drop(['metadata', key], 'labels-are-texts')
    return Object.fromEntries(labels)
  }
  losses.drop(['metadata'], 'no-metadata')
  return undefined
}

const TIERS: { readonly [tier: string]: string } = { default: 'standard', flex: 'flex', priority: 'priority' }

function writeTier(tier: string | undefined, marks: JsonObject, { native, losses }: WriteContext): Json | undefined {
  if (tier === undefined) return undefined
  if (native) return marks['serviceTier'] ?? TIERS[tier] ?? tier
  if (Object.hasOwn(TIERS, tier)) return TIERS[tier]!
  losses.drop(['serviceTier'], 'no-such-tier')
  return undefined
}

const LOSSES: Unwritten<
  CanonicalRequest,
  | 'model'
  | 'messages'
  | 'tools'
  | 'toolChoice'
  | 'parallelToolCalls'
  | 'output'
  | 'sampling'
  | 'reasoning'
  | 'state'
  | 'metadata'
  | 'serviceTier'
  | 'stream'
> = {
  endUser: 'no-end-user',
  cache: 'no-cache-markers',
  cacheKey: 'no-cache-keys',
}

const STATE_LOSSES: Unwritten<State> = {
  store: 'no-storage',
  previous: 'no-kept-answers',
  conversation: 'no-conversations',
  background: 'no-background-work',
  thread: 'no-threads',
}

function reportSettings(request: CanonicalRequest, { losses }: WriteContext): void {
  losses.dropFields(request, [], LOSSES)
  losses.dropFields(request.state, ['state'], STATE_LOSSES)
}
