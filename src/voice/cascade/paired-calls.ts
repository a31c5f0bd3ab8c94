import type { ToolResultPart } from '../../canonical/content.ts'
import type { ConversationItem } from '../../canonical/voice-session.ts'

/*
 * In a voice session, people go on talking while a tool runs, so that its result arrives several turns later, or never.
 * Models that take whole histories refuse such a history.
 */

/**
 * Orders items so that the results of calls directly follow the turn with these calls. A call whose result arrives after
 * a later turn of the model moves to its result, so that the model answers the result. A call without a result gets one
 * that says so, and a result without a call is dropped.
 */
export function pairedCalls(items: readonly ConversationItem[]): readonly ConversationItem[] {
  const pairs = pairUp(items)
  if (pairs === undefined) return items
  const ordered: ConversationItem[] = []
  let unanswered: ConversationItem[] = []
  const endTurn = (): void => {
    for (const call of unanswered) ordered.push(pairs.results.get(call) ?? pendingResult(idIn(call)!))
    unanswered = []
  }
  for (const item of items) {
    if (item.role !== 'assistant') endTurn()
    const call = pairs.late.get(item)
    if (call !== undefined) ordered.push(call, item)
    else if (item.role !== 'tool' && !pairs.moved.has(item)) ordered.push(item)
    if (isCall(item) && !pairs.moved.has(item)) unanswered.push(item)
  }
  endTurn()
  return ordered
}

interface Pairs {
  /** Results by calls. */
  readonly results: ReadonlyMap<ConversationItem, ConversationItem>
  /** Calls by results that arrived after a later turn of the model. */
  readonly late: ReadonlyMap<ConversationItem, ConversationItem>
  /** The calls in `late`. */
  readonly moved: ReadonlySet<ConversationItem>
}

/** Finds the result of each call. Returns undefined if there are neither calls nor results. */
function pairUp(items: readonly ConversationItem[]): Pairs | undefined {
  const open = new Map<string, { readonly call: ConversationItem; readonly turn: number }>()
  const results = new Map<ConversationItem, ConversationItem>()
  const late = new Map<ConversationItem, ConversationItem>()
  let turn = 0
  let isOfModel = false
  let hasCalls = false
  for (const item of items) {
    if (item.role === 'assistant' && !isOfModel) turn++
    isOfModel = item.role === 'assistant'
    const id = idIn(item)
    if (id === undefined) continue
    hasCalls = true
    if (isCall(item)) {
      open.set(id, { call: item, turn })
      continue
    }
    const pair = open.get(id)
    open.delete(id)
    if (pair === undefined) continue
    if (pair.turn === turn) results.set(pair.call, item)
    else late.set(item, pair.call)
  }
  return hasCalls ? { results, late, moved: new Set(late.values()) } : undefined
}

const isCall = ({ content: [first] }: ConversationItem): boolean => first?.type === 'tool-call'

/** Returns the id of the call in an item, or of the call whose result is in it. */
function idIn({ content: [first] }: ConversationItem): string | undefined {
  return first?.type === 'tool-call' || first?.type === 'tool-result' ? first.id : undefined
}

const pendingResult = (id: string): ConversationItem => ({
  role: 'tool',
  content: [{ type: 'tool-result', id, content: [PENDING] } satisfies ToolResultPart],
})

const PENDING = { type: 'text', text: 'The result has not arrived yet.' } as const
