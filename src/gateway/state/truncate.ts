import type { Part } from '../../canonical/content.ts'
import { isRedundant } from '../../canonical/redundant.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'

const FORMAT = 'responses'

/** About so many characters make a token, and a piece of media costs about so many. */
const CHARACTERS = 4
const MEDIA = 1000

/**
 * The request without its oldest turns, where it asks for that (`truncation: auto`) and the model's context is known and
 * too small for it: a turn goes whole, calls with their results; system and developer messages and the last turn stay.
 *
 * @param context tokens, the answer's included.
 */
export function shortened(request: CanonicalRequest, context: number | undefined): CanonicalRequest {
  const own = request.extras?.[FORMAT]
  if (own?.['truncation'] !== 'auto' || context === undefined) return request
  const { truncation: _, ...rest } = own
  const room = context - (request.sampling.maxTokens ?? 0) - tokensOf(JSON.stringify(request.tools ?? []).length)
  return {
    ...request,
    extras: { ...request.extras, [FORMAT]: rest },
    messages: fitting(request.messages, room),
  }
}

function fitting(messages: readonly Message[], room: number): readonly Message[] {
  const turns = turnsOf(messages)
  const costs = turns.map(turn => turn.reduce((sum, { message }) => sum + costOf(message), 0))
  const standing = messages.filter(isStanding).reduce((sum, message) => sum + costOf(message), 0)
  let left = costs.reduce((sum, cost) => sum + cost, standing)
  const gone = new Set<number>()
  for (const [index, turn] of turns.slice(0, -1).entries()) {
    if (left <= room) break
    left -= costs[index]!
    for (const { place } of turn) gone.add(place)
  }
  return gone.size === 0 ? messages : messages.filter((_, place) => !gone.has(place))
}

interface Placed {
  readonly message: Message
  readonly place: number
}

/** What a user says begins a turn; what is answered to it, and what tools say, belong to it. */
function turnsOf(messages: readonly Message[]): readonly (readonly Placed[])[] {
  const turns: Placed[][] = []
  let before: Message | undefined
  for (const [place, message] of messages.entries()) {
    if (isStanding(message)) continue
    if (turns.length === 0 || (message.role === 'user' && before?.role !== 'user')) turns.push([])
    turns.at(-1)!.push({ message, place })
    before = message
  }
  return turns
}

const isStanding = ({ role }: Message): boolean => role === 'system' || role === 'developer'

const tokensOf = (characters: number): number => Math.ceil(characters / CHARACTERS)

const costOf = ({ content }: Message): number => content.reduce((sum, part) => sum + costOfPart(part), 0)

function costOfPart(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return tokensOf(part.text.length)
    case 'tool-call':
      return tokensOf(part.name.length + part.arguments.length)
    case 'tool-result':
      return part.content.reduce((sum, inner) => sum + costOfPart(inner), 0)
    case 'media':
      return MEDIA
    default:
      return isRedundant(part) ? 0 : tokensOf(JSON.stringify(part).length)
  }
}
