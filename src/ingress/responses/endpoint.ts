import { isObject, type Json } from '../../canonical/node.ts'
import type { Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { spelling } from '../fields.ts'

/** The path below the base address, with or without version. */
const endpointOf = (path: string): string => path.replace(/^\/v1(?=\/)/, '')

/** The endpoint a request came through, which may be one beside the main one, and its betas. */
export function spellEndpoint({ path, query, headers }: WireRequest) {
  const endpoint = endpointOf(path)
  return {
    path: endpoint === '/responses' ? undefined : endpoint,
    query: spelling(query),
    headers: spelling(headers),
  }
}

/** What endpoints beside the main one return, or what the last item asks for (FORMATS §4). */
export function outputOf(path: string, input: Json | undefined): Output {
  const fixed = OUTPUTS.get(endpointOf(path))
  if (fixed !== undefined) return fixed
  const last = Array.isArray(input) ? input.at(-1) : undefined
  return isObject(last) && last['type'] === TRIGGER ? COMPACTION : {}
}

const COMPACTION: Output = { compaction: true }
const OUTPUTS: ReadonlyMap<string, Output> = new Map<string, Output>([
  ['/responses/compact', COMPACTION],
  ['/responses/input_tokens', { count: true }],
])
const TRIGGER = 'compaction_trigger'
