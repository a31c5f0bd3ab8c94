import type { CacheHint } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { kept } from '../fields.ts'
import type { MessagesDialect } from './dialect.ts'

export const FORMAT = 'messages'

/** What writing a request needs, and the cache markers set so far. */
export interface WriteContext {
  readonly dialect: MessagesDialect
  readonly native: boolean
  readonly losses: Losses
  readonly markers: Marker[]
}

/** A block on its way; fresh, so that it may still lose a marker. */
export type Block = { [field: string]: Json }

/** A cache marker that was set: where, and what it marks. */
export interface Marker {
  readonly block: Block
  readonly path: Path
}

/** The tools that are offered, and the choice among them as far as names go. */
export interface Tools {
  readonly wire: readonly JsonObject[]
  readonly names: ReadonlySet<string>
  /** The caller lets none of its tools be called. */
  readonly none: boolean
  /** The last of them, where it can be marked. */
  readonly last?: Marker | undefined
}

/** The block with its cache marker, if its node has one. */
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

/** Cache times by requested time; the next longer one where the requested one does not exist. */
const TIMES: { readonly [ttl: string]: string } = { '5m': '5m', '30m': '1h', '1h': '1h' }

export function writeMarker(cache: CacheHint, path: Path, { losses }: WriteContext): JsonObject {
  const supported = cache.ttl !== undefined && Object.hasOwn(TIMES, cache.ttl)
  const ttl = supported ? TIMES[cache.ttl!] : undefined
  if (ttl !== cache.ttl) {
    if (ttl === undefined) losses.drop([...path, 'cache', 'ttl'], 'no-such-cache-time')
    else losses.change([...path, 'cache', 'ttl'], ttl, 'nearest-cache-time')
  }
  return {
    type: 'ephemeral',
    ...(ttl === undefined ? {} : { ttl }),
    ...kept(cache, FORMAT),
  } as JsonObject
}

const MOST_MARKERS = 4

/**
 * At most four markers (trap 63). Where there are more, the first three stay and one at the top replaces the rest: it
 * marks the end of the prompt. So the markers on turns already sent hardly ever move.
 */
export function limitMarkers(body: Block, hint: CacheHint | undefined, context: WriteContext): void {
  const { markers, losses } = context
  const top = hint === undefined ? 0 : 1
  if (markers.length + top <= MOST_MARKERS) return
  for (const { block, path } of markers.slice(MOST_MARKERS - 1)) {
    delete block['cache_control']
    losses.drop([...path, 'cache'], 'at-most-four-cache-markers')
  }
  if (hint !== undefined) return
  body['cache_control'] = { type: 'ephemeral' }
  losses.add(['cache'], {}, 'at-most-four-cache-markers')
}

/**
 * Caching for callers of formats without markers, or who set none (trap 62): the format's automatic caching marks the
 * end of the prompt, so no turn changes when others follow; the common prefix of conversations is marked at its end, so
 * that other conversations find it. Neither changes the request's meaning, and both are two of four markers.
 *
 * @returns the field of the whole request.
 */
export function cacheByItself(
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
