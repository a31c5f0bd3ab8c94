import type { Part } from '../../canonical/content.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Loss } from '../../canonical/loss.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { Channel } from '../../upstreams/channel/index.ts'
import { preferring, type Target } from '../../upstreams/router.ts'

/*
 * Signed reasoning of one account is never sent to another key's account, even if the client holds it (trap 33). A
 * signature whose issuer is unknown, as after a restart, is sent only to the key to which the conversation is assigned.
 */

/** A request without the reasoning that other accounts signed, and the losses of leaving it out. */
interface OwnReasoning {
  readonly request: CanonicalRequest
  readonly losses: readonly Loss[]
}

const NONE: readonly Loss[] = []

/** Drops reasoning from a request for a key of a pool if another key's account signed it. */
export function withOwnSignatures(request: CanonicalRequest, target: Target, channel: Channel): OwnReasoning {
  const { pooled } = target.channel
  const signatures = channel.around?.signatures
  if (pooled === undefined || signatures === undefined) return { request, losses: NONE }
  const isForeign = (part: Part): boolean => {
    const signature = signatureOf(part, target)
    if (signature === undefined) return false
    const issuer = signatures.keyOf(signature)
    return issuer === undefined ? target.isDrawn !== true : issuer !== pooled.id
  }
  const losses: Loss[] = []
  const messages = request.messages.flatMap((message, index): Message[] => {
    if (!message.content.some(isForeign)) return [message]
    const content = message.content.filter((part, at) => {
      const foreign = isForeign(part)
      if (foreign)
        losses.push({ kind: 'dropped', path: ['messages', index, 'content', at], reason: 'signed-by-another' })
      return !foreign
    })
    return content.length === 0 && message.extras === undefined ? [] : [{ ...message, content }]
  })
  return losses.length === 0 ? { request, losses } : { request: { ...request, messages }, losses }
}

/** Returns the signature that the target's upstream would get. Signatures of other formats never leave the gateway. */
const signatureOf = (part: Part, { format }: Target): string | undefined =>
  part.type === 'reasoning' && part.signature?.format === format.format ? part.signature.value : undefined

/** Prefers the key whose account signed the latest reasoning of a history, among targets of equal priority and rest. */
export function preferSigner(
  targets: readonly Target[],
  { messages }: CanonicalRequest,
  channelOf: (target: Target) => Channel,
): readonly Target[] {
  if (targets.length < 2 || !targets.some(({ channel }) => channel.pooled !== undefined)) return targets
  const parts = messages.findLast(({ content }) => content.some(isSigned))?.content
  if (parts === undefined) return targets
  const isIssuer = (target: Target): boolean => {
    const signatures = channelOf(target).around?.signatures
    return signatures !== undefined && parts.some(part => isIssued(part, target, signatures))
  }
  return preferring(targets, isIssuer)
}

const isSigned = (part: Part): boolean => part.type === 'reasoning' && part.signature !== undefined

function isIssued(part: Part, target: Target, signatures: NonNullable<Channel['signatures']>): boolean {
  const signature = signatureOf(part, target)
  return signature !== undefined && signatures.keyOf(signature) === target.channel.pooled?.id
}

/** Receives the events of a streamed answer. */
export interface EventWatcher {
  saw(event: CanonicalEvent): void
}

/** Records the signatures of a whole answer of a key of a pool. */
export function noteSignatures({ candidates }: CanonicalResult, channel: Channel): void {
  if (channel.around?.signatures === undefined) return
  for (const { content } of candidates) for (const part of content) notePart(part, channel)
}

function notePart(part: Part, channel: Channel): void {
  if (part.type === 'reasoning' && part.signature !== undefined) note(part.signature.value, channel)
}

const note = (signature: string, { around, config }: Channel): void =>
  around!.signatures!.issued(signature, config.pooled!.id)

/** Like `noteSignatures`, for a streamed answer. Passes each event on to the next watcher. */
export function watchSignatures(channel: Channel, next: EventWatcher | undefined): EventWatcher | undefined {
  if (channel.around?.signatures === undefined) return next
  return {
    saw: event => {
      if (event.type === 'part-start') notePart(event.part, channel)
      else if (event.type === 'part-patch') {
        if (event.signature !== undefined) note(event.signature.value, channel)
        if (event.part !== undefined) notePart(event.part, channel)
      }
      next?.saw(event)
    },
  }
}
