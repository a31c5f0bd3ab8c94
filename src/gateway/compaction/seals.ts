import type { OpaquePart, Part } from '../../canonical/content.ts'
import { invalid } from '../../canonical/error.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { SEAL } from '../../canonical/signature.ts'
import { storeFailure } from '../../store/fault.ts'
import { decrypted, encrypted, type GatewaySecret } from '../gateway-secret.ts'
import { recollection } from './summary.ts'

/**
 * Seals and opens texts for one caller; those of another caller do not open. The key must have been loaded: until then,
 * and where it cannot be had, both throw OwnFailure.
 */
export interface Seal {
  /** Loads the key. Rejects with OwnFailure where it cannot be had. */
  load(): Promise<void>
  seal(text: string): string
  /** The text; undefined for another caller's, for one of another gateway, and for one that was changed. */
  open(sealed: string): string | undefined
}

/** Texts that callers keep for the gateway, encrypted (AES-256-GCM) with a key that all instances of one store have. */
export class Seals {
  private readonly secret: GatewaySecret

  constructor(secret: GatewaySecret) {
    this.secret = secret
  }

  /** @param owner stable for the caller's key, and no other's. */
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

/** Without a key that is kept, what is sealed today could not be opened tomorrow. */
const UNSEALED = storeFailure('The key that seals conversations cannot be had just now.')

type Sealed = OpaquePart & { readonly sealed: string }

/**
 * A request that holds sealed parts with these in plain: each is a separate turn of the user at its place.
 *
 * @throws GatewayError `invalid-request` for what this caller cannot open.
 */
export const withSealsOpened = (request: CanonicalRequest, seal: Seal): CanonicalRequest => ({
  ...request,
  messages: request.messages.flatMap(message => openedIn(message, seal)),
})

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
  throw invalid(
    `The compaction item${name} cannot be read: it was made for another key, or was changed.`,
    'input',
    'invalid_compaction_item',
  )
}
