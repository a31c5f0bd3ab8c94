import type { OpaquePart, Part } from '../../canonical/content.ts'
import { invalid } from '../../canonical/error.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { SEAL } from '../../canonical/signature.ts'
import { storeFailure } from '../../store/fault.ts'
import { decrypted, encrypted, type GatewaySecret } from '../gateway-secret.ts'
import { recollection } from './summary.ts'

/**
 * Encrypts and decrypts texts for one caller; a text of another caller does not decrypt. The key must have been loaded:
 * both methods throw OwnFailure if it is unavailable.
 */
export interface Seal {
  /** Loads the key. Rejects with OwnFailure if it is unavailable. */
  load(): Promise<void>
  seal(text: string): string
  /** Decrypts a text. Returns undefined for a text of another caller or gateway, and for one that was changed. */
  open(sealed: string): string | undefined
}

/** Encrypts state that clients hold for the gateway (AES-256-GCM). All instances of one store share the key. */
export class Seals {
  private readonly secret: GatewaySecret

  constructor(secret: GatewaySecret) {
    this.secret = secret
  }

  /** @param owner stable for the caller's key, and different from every other's. */
  of(owner: string): Seal {
    return new OwnerSeal(owner, this.secret)
  }
}

class OwnerSeal implements Seal {
  private readonly owner: string
  private readonly secret: GatewaySecret

  constructor(owner: string, secret: GatewaySecret) {
    this.owner = owner
    this.secret = secret
  }

  load(): Promise<void> {
    return this.secret.load().then(nothing, unsealed)
  }

  seal(text: string): string {
    return SEAL + encrypted(this.key, text, this.about).toString('base64url')
  }

  open(sealed: string): string | undefined {
    return decrypted(this.key, Buffer.from(sealed.slice(SEAL.length), 'base64url'), this.about)
  }

  private get about(): Buffer {
    return Buffer.from(`interlingua ${SEAL}\n${this.owner}`)
  }

  private get key(): Buffer {
    return this.secret.loaded ?? unsealed()
  }
}

const nothing = (): void => {}

const unsealed = (): never => {
  throw UNSEALED
}

/** Encrypting with a key that is not stored would lose the text at the next restart. */
const UNSEALED = storeFailure('The key that encrypts conversations is unavailable at present.')

type Sealed = OpaquePart & { readonly sealed: string }

/**
 * Decrypts the encrypted parts of a request. Each becomes a user turn of its own at its position.
 *
 * @throws GatewayError `invalid-request` for a part this caller cannot decrypt.
 */
export const withSealsOpened = (request: CanonicalRequest, seal: Seal): CanonicalRequest => ({
  ...request,
  messages: request.messages.flatMap(message => openedIn(message, seal)),
})

/** Whether the request holds state that the gateway encrypted. */
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
  throw invalid(
    `The compaction item${name} cannot be decrypted: it belongs to another key, or was changed.`,
    'input',
    'invalid_compaction_item',
  )
}
