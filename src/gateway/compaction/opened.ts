import type { OpaquePart, Part } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { recollection } from './prompt.ts'
import type { Seal } from './seals.ts'

type Sealed = OpaquePart & { readonly sealed: string }

/**
 * The request with what the gateway sealed in plain: each is a separate turn of the user at its place. The same object where there are none.
 *
 * @throws GatewayError `invalid-request` for what this caller cannot open.
 */
export function opened(request: CanonicalRequest, seal: Seal): CanonicalRequest {
  const { messages } = request
  if (!holdsSealed(request)) return request
  return { ...request, messages: messages.flatMap(message => openedIn(message, seal)) }
}

/** Whether the gateway sealed some of it. */
export const holdsSealed = ({ messages }: CanonicalRequest): boolean =>
  messages.some(({ content }) => content.some(isSealed))

const isSealed = (part: Part): part is Sealed => part.type === 'opaque' && part.sealed !== undefined

function openedIn(message: Message, seal: Seal): readonly Message[] {
  if (!message.content.some(isSealed)) return [message]
  const out: Message[] = []
  let rest: Part[] = []
  const close = (): void => {
    if (rest.length > 0) out.push({ ...message, content: rest })
    rest = []
  }
  for (const part of message.content) {
    if (!isSealed(part)) {
      rest.push(part)
      continue
    }
    close()
    out.push(recollection(textOf(part, seal)))
  }
  close()
  return out
}

function textOf({ sealed, value }: Sealed, seal: Seal): string {
  const text = seal.open(sealed)
  if (text !== undefined) return text
  const name = typeof value['id'] === 'string' ? ` "${value['id']}"` : ''
  throw new GatewayError({
    kind: 'invalid-request',
    message: `The compaction item${name} cannot be read: it was made for another key, or was changed.`,
    param: 'input',
    code: 'invalid_compaction_item',
  })
}
