import type { Budget } from '../../canonical/budget.ts'
import type { CacheHint, Part } from '../../canonical/content.ts'
import { childPath, type Losses, type Path } from '../../canonical/loss.ts'
import { defined, type Json, type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { ConverseDialect } from '../../formats/dialects/converse.ts'
import { extrasFor } from '../fields.ts'
import type { MovedPart } from '../moved-media.ts'

export const FORMAT = 'converse'

/** A mutable block, whose text may still change. */
export type Block = { [field: string]: Json }

/** Context for writing a request. */
export interface WriteContext {
  readonly dialect: ConverseDialect
  readonly native: boolean
  readonly losses: Losses
  /** Document names so far, which must be unique within a request. */
  readonly documents: Set<string>
  /** Limits the size that resolved references add to the schemas of tools. */
  readonly budget: Budget
  /** Media of results so far that the model takes in turns of the user only. Undefined if results can hold them. */
  readonly moved?: MovedPart[]
}

/** The end of a list of blocks, after which a cache point may be added. */
export interface MarkableEnd {
  /** The list that ends here. */
  readonly blocks: Block[]
  /** The part from which the last block was written. */
  readonly path: Path
}

/** Cache duration for each requested duration. If the format does not have it, the next longer one. */
const CACHE_TTLS: { readonly [ttl: string]: string } = { '5m': '5m', '30m': '1h', '1h': '1h' }

/**
 * Writes the cache point after a node. Returns undefined if the node has no marker, or if the model does not accept
 * cache points.
 */
export function writeCachePoint(
  { cache }: { readonly cache?: CacheHint },
  path: Path,
  { dialect, native, losses }: WriteContext,
): Block | undefined {
  if (cache === undefined) return undefined
  const original = unchangedWire<Block>(cache, FORMAT)
  if (original !== undefined && native) return original
  const at = [...path, 'cache']
  if (!native && dialect.cache_points !== true) return losses.drop(at, 'no-cache-points')
  const supported = cache.ttl !== undefined && dialect.cache_times !== false && Object.hasOwn(CACHE_TTLS, cache.ttl)
  const ttl = supported ? CACHE_TTLS[cache.ttl!] : undefined
  if (ttl !== cache.ttl) {
    if (ttl === undefined) losses.drop([...at, 'ttl'], 'no-such-cache-time')
    else losses.change([...at, 'ttl'], ttl, 'nearest-cache-time')
  }
  return { cachePoint: { type: 'default', ...(defined({ ttl }) as JsonObject), ...extrasFor(cache, FORMAT) } }
}

/**
 * Returns true if a cache point may follow the block. Upstreams refuse one directly after a document or an audio block.
 */
export const isMarkable = ({ text, toolUse, toolResult, image }: Block): boolean =>
  [text, toolUse, toolResult, image].some(field => field !== undefined)

/** Returns true if the block of a part may precede a cache point (`isMarkable`). */
const isMarkablePart = (part: Part): boolean =>
  part.type === 'text'
    ? part.text.trim() !== ''
    : part.type === 'tool-call' || part.type === 'tool-result' || (part.type === 'media' && part.kind === 'image')

/**
 * Moves the cache markers of documents and other files to the next part of the turn behind which a cache point may be,
 * so that the file is cached, too. Drops a marker if there is no such part.
 */
export function withLegalMarkers(
  content: readonly Part[],
  path: Path,
  { dialect, losses }: WriteContext,
): readonly Part[] {
  const isMisplaced = (part: Part): boolean =>
    part.type === 'media' && part.cache !== undefined && !isMarkablePart(part)
  if (dialect.cache_points !== true || !content.some(isMisplaced)) return content
  const parts = [...content]
  for (const [index, part] of content.entries()) {
    if (part.type !== 'media' || !isMisplaced(part)) continue
    const { cache, ...unmarked } = part
    parts[index] = unmarked
    losses.drop([...childPath(path, index), 'cache'], 'no-point-behind-documents')
    const next = parts.findIndex((one, at) => at > index && isMarkablePart(one))
    const nextPart = parts[next]
    if (nextPart === undefined || nextPart.type === 'opaque' || nextPart.cache !== undefined) continue
    parts[next] = { ...nextPart, cache: cache! }
    losses.add([...childPath(path, next), 'cache'], cache, 'no-point-behind-documents')
  }
  return parts
}
