import type { Part, Signature } from '../../canonical/content.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Loss } from '../../canonical/loss.ts'
import { unchangedWire } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { preferring, type Target } from '../../upstreams/router.ts'
import { reachesSigner, signerOf } from './issuer.ts'
import type { Signers } from './signers.ts'

/*
 * Reasoning that one account signed is never sent to another account, even if the client returns it (trap 33). A
 * signature whose account is unknown is sent only to the target that the conversation draws.
 */

/** A request without the reasoning that other accounts signed, and the resulting losses. */
interface OwnReasoning {
  readonly request: CanonicalRequest
  readonly losses: readonly Loss[]
}

const NO_LOSSES: readonly Loss[] = []

/** Drops everything from a request that an account other than the target's signed. */
export function withOwnSignatures(
  request: CanonicalRequest,
  target: Target,
  signers: Signers | undefined,
): OwnReasoning {
  if (signers === undefined) return { request, losses: NO_LOSSES }
  const isForeign = (part: Part): boolean => {
    const signature = signatureFor(part, target)
    if (signature === undefined) return false
    const signer = signers.of(signature)
    return signer === undefined ? target.isDrawn?.() === false : !reachesSigner(signer, target)
  }
  if (!request.messages.some(({ content }) => content.some(isForeign))) return { request, losses: NO_LOSSES }
  const losses: Loss[] = []
  const messages = request.messages.flatMap((message, index): Message[] => {
    const foreign = message.content.map(isForeign)
    if (!foreign.includes(true)) return [message]
    for (const [at, isDropped] of foreign.entries())
      if (isDropped)
        losses.push({ kind: 'dropped', path: ['messages', index, 'content', at], reason: 'signed-by-another' })
    const content = message.content.flatMap((part, at) => {
      if (foreign[at]) return []
      const isSigned = foreign[at - 1] === true && isWrittenWith(part, signatureFor(message.content[at - 1]!, target)!)
      return [isSigned ? unwrittenCopy(part) : part]
    })
    return content.length === 0 && message.extras === undefined ? [] : [{ ...message, content }]
  })
  return { request: { ...request, messages }, losses }
}

/** Returns true if the wire value of a part contains the signature of the reasoning before it, as calls in `contents`. */
const isWrittenWith = (part: Part, { format, value }: Signature): boolean =>
  JSON.stringify(unchangedWire(part, format) ?? null).includes(JSON.stringify(value))

/** Returns a copy of a part, which makes the writer write it anew. */
const unwrittenCopy = (part: Part): Part => ({ ...part })

/** Returns the signature that the target would receive. Signatures of other formats never leave the gateway. */
function signatureFor(part: Part, { format }: Target): Signature | undefined {
  const signature = signatureOf(part)
  return signature?.format === format.format ? signature : undefined
}

/** Returns the signature of reasoning or of a history that an upstream compacted. */
function signatureOf(part: Part): Signature | undefined {
  if (part.type === 'reasoning') return part.signature
  if (part.type !== 'opaque' || part.encrypted !== undefined) return undefined
  const value = part.value['encrypted_content']
  return typeof value === 'string'
    ? compactedSignatures.getOrInsertComputed(part, () => ({ format: part.format, value }))
    : undefined
}

/** Signatures of opaque parts, created once per part. */
const compactedSignatures = new WeakMap<Part, Signature>()

/** Returns all signatures in a history. */
export function signaturesIn({ messages }: CanonicalRequest): readonly Signature[] {
  let found: Signature[] | undefined
  // For hundreds of messages, loops over indexes take half the time of iterators.
  for (let at = 0; at < messages.length; at++) {
    const { content } = messages[at]!
    for (let index = 0; index < content.length; index++) {
      const part = content[index]!
      if (part.type !== 'reasoning' && part.type !== 'opaque') continue
      const signature = signatureOf(part)
      if (signature !== undefined) (found ??= []).push(signature)
    }
  }
  return found ?? NO_SIGNATURES
}

/** Result for a history without signatures. */
export const NO_SIGNATURES: readonly Signature[] = []

/** Among targets of equal priority and resting state, prefers the account that issued the latest signature. */
export function preferSigner(
  targets: readonly Target[],
  signatures: readonly Signature[],
  signers: Signers,
): readonly Target[] {
  if (targets.length < 2) return targets
  const latest = signatures.findLast(signature => signers.of(signature) !== undefined)
  const drawnTargets = targets.map((target, index) =>
    target.isDrawn === undefined ? { ...target, isDrawn: () => index === 0 } : target,
  )
  if (latest === undefined) return drawnTargets
  const signer = signers.of(latest)!
  return preferring(drawnTargets, target => target.format.format === latest.format && reachesSigner(signer, target))
}

/** Receives the events of a streamed answer. */
export interface EventWatcher {
  observe(event: CanonicalEvent): void
}

/** Records the signatures of a whole answer. */
export function noteSignatures({ candidates }: CanonicalResult, target: Target, signers: Signers | undefined): void {
  if (signers === undefined) return
  for (const { content } of candidates) for (const part of content) notePart(part, target, signers)
}

function notePart(part: Part, target: Target, signers: Signers): void {
  const signature = part.type === 'text' ? undefined : signatureFor(part, target)
  if (signature !== undefined) signers.recordSigner(signature, signerOf(target))
}

/** Like `noteSignatures`, for a streamed answer. Passes each event on to the next watcher. */
export function watchSignatures(
  target: Target,
  signers: Signers | undefined,
  next: EventWatcher | undefined,
): EventWatcher | undefined {
  if (signers === undefined) return next
  return {
    observe: event => {
      if (event.type === 'part-start') notePart(event.part, target, signers)
      else if (event.type === 'part-patch') {
        if (event.signature?.format === target.format.format) signers.recordSigner(event.signature, signerOf(target))
        if (event.part !== undefined) notePart(event.part, target, signers)
      }
      next?.observe(event)
    },
  }
}
