import type { Part, ReasoningPart } from '../../canonical/content.ts'
import type { Message } from '../../canonical/request.ts'
import { FORMAT } from './fields.ts'

/**
 * Clients hand a streamed thought back in the pieces they got, and its proof as the last of them. A proof of another
 * issuer is of the whole thought, so the pieces are one again; Google's own proofs stay where they were.
 */
export function rejoined(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(({ content }) => content.some(isStrayProof))) return messages
  const out: { message: Message; content: Part[] }[] = []
  for (const message of messages) {
    const turn = { message, content: [] as Part[] }
    out.push(turn)
    for (const part of message.content) if (!isStrayProof(part) || !prove(out, part)) turn.content.push(part)
  }
  return out.flatMap(({ message, content }) =>
    content.length === 0 && message.content.length > 0 ? [] : [{ ...message, content }],
  )
}

/** A proof without a thought, which a writer leaves after the thought's last words. */
const isStrayProof = (part: Part): part is ReasoningPart & { signature: object } =>
  part.type === 'reasoning' &&
  part.text === '' &&
  part.signature !== undefined &&
  (part.redacted === true || (part.signature.format !== FORMAT && part.spelling?.[FORMAT]?.['thought'] === true))

/** Makes one signed thought of the unsigned ones said last; false where there are none. */
function prove(turns: readonly { message: Message; content: Part[] }[], proof: ReasoningPart): boolean {
  const pieces: string[] = []
  let place: Part[] | undefined
  for (const { message, content } of turns.toReversed()) {
    if (message.role !== 'assistant') break
    for (let last = content.at(-1); last !== undefined && isPiece(last); last = content.at(-1)) {
      pieces.unshift(last.text)
      content.pop()
      place = content
    }
    if (content.length > 0) break
  }
  place?.push({ type: 'reasoning', text: pieces.join(''), signature: proof.signature! })
  return place !== undefined
}

const isPiece = (part: Part): part is ReasoningPart =>
  part.type === 'reasoning' && part.signature === undefined && part.redacted === undefined && part.text !== ''
