import type { Part } from '../../canonical/content.ts'
import { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import { type LocatedPart, partsOfRun, reportRunOrder } from '../assistant-run.ts'
import { FIELD_ORDER, type Field, fieldOf, Turn } from './assistant.ts'
import { FORMAT, type WriteContext } from './content.ts'

interface PlacedPart extends LocatedPart {
  readonly field: Field
}

/** Writes the assistant turns at the indexes in `run` as one message. */
export function writeAssistantRun(
  messages: readonly Message[],
  run: readonly number[],
  context: WriteContext,
): JsonObject {
  const losses = new Losses()
  const turn = new Turn(messages[run[0]!]!, { ...context, losses })
  const parts = partsOfRun(messages, run).map((one): PlacedPart => ({ ...one, field: fieldOf(one.part, context) }))
  for (const { part, field, path } of context.dialect.text_only_content === 'string' ? joinedTexts(parts) : parts)
    turn.addPart(part, field, path)
  context.losses.report(losses.list)
  const rankOf = ({ field }: PlacedPart): number => FIELD_ORDER[field]
  reportRunOrder(parts, losses.list, rankOf, { format: FORMAT, losses: context.losses })
  return turn.written()
}

/**
 * Concatenates the texts of consecutive turns without a separator, because the turns are chunks of one streamed text.
 * Only needed for upstreams that require `content` to be a single string.
 */
function joinedTexts(parts: readonly PlacedPart[]): readonly PlacedPart[] {
  const joined: PlacedPart[] = []
  for (const one of parts) {
    const last = joined.at(-1)
    const continues = last?.part.type === 'text' && one.part.type === 'text' && last.path[1] !== one.path[1]
    if (!continues) joined.push(one)
    else joined[joined.length - 1] = { ...one, part: { ...last.part, text: last.part.text + one.part.text } as Part }
  }
  return joined
}
