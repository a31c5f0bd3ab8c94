import type { CacheHint } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { MessagesDialect } from '../../formats/dialects/messages.ts'
import { extrasFor } from '../fields.ts'

export const FORMAT = 'messages'

/** Context for writing a request: dialect, losses, and the cache markers set so far. */
export interface WriteContext {
  readonly dialect: MessagesDialect
  /** True if the upstream's API version refuses everything that version 2026-10-21 removed. */
  readonly isStrict: boolean
  readonly native: boolean
  /** Returns true if the channel passes on a beta feature. */
  readonly passesBeta: (beta: string) => boolean
  readonly losses: Losses
  readonly markers: Marker[]
  /** True if turns with calls must have thinking (demanded-thinking.ts). */
  readonly demandsThinking?: boolean
}

/** A mutable block. Its cache marker may still be added or removed. */
export type Block = { [field: string]: Json }

/** A block with a cache marker, and the path of the node to which the marker belongs. */
export interface Marker {
  readonly block: Block
  readonly path: Path
}

/** The tools that the request offers to the upstream. */
export interface Tools {
  readonly wire: readonly JsonObject[]
  readonly names: ReadonlySet<string>
  /** True if the tool choice excludes all of the caller's tools. */
  readonly none: boolean
  /** The last tool, if it can have a cache marker. */
  readonly last?: Marker | undefined
}

/** Copies the cache marker of a node to its block, if the node has one. */
export function writeCache(
  block: Block,
  { cache }: { readonly cache?: CacheHint },
  path: Path,
  context: WriteContext,
): Block {
  if (cache === undefined) return block
  block['cache_control'] = writeMarker(cache, path, context)
  context.markers.push({ block, path })
  return block
}

/** Cache duration for each requested duration. If the format does not have it, the next longer one. */
const CACHE_TTLS: { readonly [ttl: string]: string } = { '5m': '5m', '30m': '1h', '1h': '1h' }

/** Writes a cache marker and reports a duration that the format does not have. */
export function writeMarker(cache: CacheHint, path: Path, { losses }: WriteContext): JsonObject {
  const supported = cache.ttl !== undefined && Object.hasOwn(CACHE_TTLS, cache.ttl)
  const ttl = supported ? CACHE_TTLS[cache.ttl!] : undefined
  if (ttl !== cache.ttl) {
    if (ttl === undefined) losses.drop([...path, 'cache', 'ttl'], 'no-such-cache-time')
    else losses.change([...path, 'cache', 'ttl'], ttl, 'nearest-cache-time')
  }
  return {
    type: 'ephemeral',
    ...(ttl === undefined ? {} : { ttl }),
    ...extrasFor(cache, FORMAT),
  } as JsonObject
}

const MAX_MARKERS = 4

/**
 * Limits the request to four cache markers (trap 63). If there are more, the first three are kept, and a single marker
 * on the request itself, which covers the end of the prompt, replaces the others. This way, markers on turns that were
 * already sent rarely move.
 */
export function limitMarkers(body: Block, hint: CacheHint | undefined, context: WriteContext): void {
  const { markers, losses } = context
  const top = hint === undefined ? 0 : 1
  if (markers.length + top <= MAX_MARKERS) return
  for (const { block, path } of markers.slice(MAX_MARKERS - 1)) {
    delete block['cache_control']
    losses.drop([...path, 'cache'], 'at-most-four-cache-markers')
  }
  if (hint !== undefined) return
  body['cache_control'] = { type: 'ephemeral' }
  losses.add(['cache'], {}, 'at-most-four-cache-markers')
}

/**
 * Shortens the time of markers that follow one with a shorter time: "a ttl='1h' cache_control block must not come after a
 * ttl='5m' cache_control block. Note that blocks are processed in the following order: tools, system, messages"
 * (cnighswonger/claude-code-cache-fix#44, vellum-ai/vellum-assistant#22191, read on 2026-12-01).
 */
export function orderMarkers(body: Block, { markers, losses }: WriteContext): void {
  const all = [...markers, ...(body['cache_control'] === undefined ? [] : [{ block: body, path: [] }])]
  const marked = all.filter(({ block }) => block['cache_control'] !== undefined)
  const first = marked.findIndex(({ block }) => !isLong(block))
  if (first === -1) return
  for (const { block, path } of marked.slice(first).filter(({ block }) => isLong(block))) {
    block['cache_control'] = { ...(block['cache_control'] as JsonObject), ttl: SHORT_TTL }
    losses.change([...path, 'cache', 'ttl'], SHORT_TTL, 'longer-cache-times-first')
  }
}

const [SHORT_TTL, LONG_TTL] = ['5m', '1h'] as const

const isLong = ({ cache_control }: Block): boolean => (cache_control as JsonObject)['ttl'] === LONG_TTL

/**
 * Adds cache markers if the caller set none or if its format has none (trap 62). The format's automatic caching marks
 * the end of the prompt, so that no turn changes when more turns follow. A second marker is at the end of the prefix
 * shared by conversations, so that other conversations can reuse it. Together they use two of the four markers.
 *
 * @param prefix the last block of the shared prefix.
 * @param several whether the request has tools or more than one message.
 * @returns the `cache_control` field of the request. Empty if nothing is added.
 */
export function addCacheMarkers(
  request: CanonicalRequest,
  prefix: Marker | undefined,
  several: boolean,
  context: WriteContext,
): Block {
  const { dialect, losses, markers } = context
  if (dialect.cache !== 'auto' || !several || request.output.count === true) return {}
  if (request.cache !== undefined || markers.length > 0) return {}
  if (prefix !== undefined) {
    prefix.block['cache_control'] = { type: 'ephemeral' }
    losses.add([...prefix.path, 'cache'], {}, 'minted-cache-hint')
  }
  losses.add(['cache'], {}, 'minted-cache-hint')
  return { cache_control: { type: 'ephemeral' } }
}
