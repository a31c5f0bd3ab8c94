import type { OpaquePart, Part } from '../../canonical/content.ts'
import { invalid } from '../../canonical/error.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { ENCRYPTED_PREFIX } from '../../canonical/signature.ts'
import { storeFailure } from '../../store/fault.ts'
import { decryptText, encryptText, type GatewaySecret } from '../gateway-secret.ts'
import { summaryTurn } from './summary.ts'

/**
 * Encrypts and decrypts text for one caller. Cannot decrypt another caller's text. Both operations throw
 * GatewayFailure if the key has not been loaded.
 */
export interface StateCipher {
  /** Loads the key. Rejects with GatewayFailure if the key is unavailable. */
  load(): Promise<void>
  encrypt(text: string): string
  /** Decrypts text. Returns undefined if the text was modified or belongs to another caller or gateway. */
  decrypt(ciphertext: string): string | undefined
}

/** Encrypts state that clients hold for the gateway (AES-256-GCM). All instances of one store share the key. */
export class StateCiphers {
  private readonly secret: GatewaySecret

  constructor(secret: GatewaySecret) {
    this.secret = secret
  }

  /** @param owner permanent, unique id of the caller's key. */
  of(owner: string): StateCipher {
    return new OwnerCipher(owner, this.secret)
  }
}

class OwnerCipher implements StateCipher {
  private readonly owner: string
  private readonly secret: GatewaySecret

  constructor(owner: string, secret: GatewaySecret) {
    this.owner = owner
    this.secret = secret
  }

  load(): Promise<void> {
    return this.secret.load().then(ignoreResult, throwUnavailable)
  }

  encrypt(text: string): string {
    return ENCRYPTED_PREFIX + encryptText(this.key, text, this.authenticatedData).toString('base64url')
  }

  decrypt(ciphertext: string): string | undefined {
    const bytes = Buffer.from(ciphertext.slice(ENCRYPTED_PREFIX.length), 'base64url')
    return decryptText(this.key, bytes, this.authenticatedData)
  }

  private get authenticatedData(): Buffer {
    return Buffer.from(`interlingua ${ENCRYPTED_PREFIX}\n${this.owner}`)
  }

  private get key(): Buffer {
    return this.secret.loaded ?? throwUnavailable()
  }
}

const ignoreResult = (): void => {}

const throwUnavailable = (): never => {
  throw KEY_UNAVAILABLE
}

/** Error for a key that could not be loaded or stored. Text encrypted with it would be unreadable after a restart. */
const KEY_UNAVAILABLE = storeFailure('The key that encrypts conversations is currently unavailable.')

type EncryptedPart = OpaquePart & { readonly encrypted: string }

/**
 * Decrypts the encrypted parts of a request. Each part becomes a separate user turn at its position.
 *
 * @throws GatewayError `invalid-request` if a part belongs to another caller.
 */
export const withStateDecrypted = (request: CanonicalRequest, cipher: StateCipher): CanonicalRequest => ({
  ...request,
  messages: request.messages.flatMap(message => decryptedMessages(message, cipher)),
})

/** Returns true if the request contains state that the gateway encrypted. */
export const holdsEncryptedState = ({ messages }: CanonicalRequest): boolean =>
  messages.some(({ content }) => content.some(isEncryptedPart))

const isEncryptedPart = (part: Part): part is EncryptedPart => part.type === 'opaque' && part.encrypted !== undefined

function decryptedMessages(message: Message, cipher: StateCipher): readonly Message[] {
  if (!message.content.some(isEncryptedPart)) return [message]
  const messages: Message[] = []
  let pendingParts: Part[] = []
  const flush = (): void => {
    if (pendingParts.length > 0) messages.push({ ...message, content: pendingParts })
    pendingParts = []
  }
  for (const part of message.content) {
    if (!isEncryptedPart(part)) {
      pendingParts.push(part)
      continue
    }
    flush()
    messages.push(summaryTurn(textOf(part, cipher)))
  }
  flush()
  return messages
}

function textOf({ encrypted, value }: EncryptedPart, cipher: StateCipher): string {
  const text = cipher.decrypt(encrypted)
  if (text !== undefined) return text
  const name = typeof value['id'] === 'string' ? ` "${value['id']}"` : ''
  throw invalid(
    `The compaction item${name} cannot be decrypted: it belongs to another key or was modified.`,
    'input',
    'invalid_compaction_item',
  )
}
