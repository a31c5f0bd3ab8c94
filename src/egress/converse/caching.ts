import type { CacheHint } from '../../canonical/content.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Block, type MarkableEnd, type WriteContext, writeCachePoint } from './context.ts'
import type { WrittenConversation } from './messages.ts'
import type { Tools } from './tools.ts'

/**
 * Adds cache points for callers that set none, or whose format has none (trap 62): one at the end of the prefix shared
 * by conversations, and one at the end of the conversation so far. If the caller requested automatic caching, adds a
 * point at the end.
 */
export function addCachePoints(
  request: CanonicalRequest,
  tools: Tools,
  conversation: WrittenConversation,
  context: WriteContext,
): void {
  const { dialect, losses } = context
  const { cache, output } = request
  const hasPoints = [tools.wire, conversation.system, ...conversation.messages.map(contentOf)].some(blocks =>
    blocks.some(isPoint),
  )
  if (cache !== undefined) {
    if (dialect.cache_points === true && !hasPoints && conversation.end !== undefined) {
      losses.dropRestored(['cache'], 'a-cache-point-instead')
      addCachePoint(conversation.end, cache, context)
    } else losses.drop(['cache'], 'no-automatic-caching')
    return
  }
  const hasSharedPrefix = tools.wire.length > 0 || conversation.messages.length > 1
  if (dialect.cache !== 'auto' || dialect.cache_points !== true) return
  if (!hasSharedPrefix || output.count === true || hasPoints) return
  const prefix = conversation.systemEnd ?? tools.end
  if (prefix !== undefined) addCachePoint(prefix, {}, context)
  if (conversation.end !== undefined) addCachePoint(conversation.end, {}, context)
}

function addCachePoint({ blocks, path }: MarkableEnd, cache: CacheHint, context: WriteContext): void {
  context.losses.add([...path, 'cache'], cache, 'minted-cache-hint')
  blocks.push(writeCachePoint({ cache }, path, context)!)
}

const contentOf = ({ content }: Block): readonly JsonObject[] => content as JsonObject[]

const isPoint = ({ cachePoint }: JsonObject): boolean => cachePoint !== undefined
