import { isObject, type Json } from '../../canonical/node.ts'
import type { Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { spelling } from '../fields.ts'

/** The path below the base address, however the caller's ends. */
const doorOf = (path: string): string => path.replace(/^\/v1(?=\/)/, '')

/** The request may have come through an endpoint beside the main one, with betas of its own. */
export function spellDoor({ path, query, headers }: WireRequest) {
  const door = doorOf(path)
  return {
    path: door === '/responses' ? undefined : door,
    query: spelling(query),
    headers: spelling(headers),
  }
}

/** What is wanted back at the endpoints beside the main one, and where the last item asks for it (FORMATS §4). */
export function wantedAt(path: string, input: Json | undefined): Output {
  const wanted = WANTED.get(doorOf(path))
  if (wanted !== undefined) return wanted
  const last = Array.isArray(input) ? input.at(-1) : undefined
  return isObject(last) && last['type'] === TRIGGER ? COMPACTION : {}
}

const COMPACTION: Output = { compaction: true }
const WANTED: ReadonlyMap<string, Output> = new Map<string, Output>([
  ['/responses/compact', COMPACTION],
  ['/responses/input_tokens', { count: true }],
])
const TRIGGER = 'compaction_trigger'
