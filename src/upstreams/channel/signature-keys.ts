import { createHash } from 'node:crypto'

/** Maximum number of signatures remembered per channel, the latest ones. */
const MOST = 50_000

/**
 * Remembers which key's account issued a signature of reasoning, so that no other account of the pool gets it. Holds
 * only hashes. Other processes of the gateway get them, too. A restart forgets them.
 */
export class SignatureKeys {
  private readonly keys = new Map<string, string>()
  /** Called with each new signature, to inform other processes. */
  onNew: (signature: string, key: string) => void = () => {}

  /** Returns the id of the key whose account issued the signature. Undefined if it is unknown. */
  keyOf(signature: string): string | undefined {
    return this.keys.get(hashOf(signature))
  }

  issued(signature: string, key: string): void {
    const hash = hashOf(signature)
    if (this.keys.get(hash) === key) return
    this.apply(hash, key)
    this.onNew(hash, key)
  }

  /** Applies what another process learned. */
  apply(hash: string, key: string): void {
    this.keys.delete(hash)
    this.keys.set(hash, key)
    if (this.keys.size > MOST) this.keys.delete(this.keys.keys().next().value!)
  }
}

const hashOf = (signature: string): string => createHash('sha256').update(signature).digest('base64url').slice(0, 16)
