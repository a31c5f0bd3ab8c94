import type { Part } from '../../canonical/content.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Loss } from '../../canonical/loss.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { ChannelConfig } from '../../config/types.ts'
import type { Channel } from '../../upstreams/channel/index.ts'
import { preferring, type Target } from '../../upstreams/router.ts'

/*
 * Signed reasoning of one account is never sent to another key's account, even if the client holds it (trap 33). A
 * signature whose issuer is unknown, as after a restart, is sent only to the key to which the conversation is assigned.
 */

type SignatureKeys = NonNullable<Channel['signatures']>

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
  return pooled === undefined || signatures === undefined
    ? { request, losses: NONE }
    : withoutForeign(request, target, { signatures, id: pooled.id })
}

/** The key of a pool that a request is sent to, and the issuers of signatures of its pool. */
interface OwnKey {
  readonly id: string
  readonly signatures: SignatureKeys
}

/** A function of its own, because a function that has closures costs every request their scope. */
function withoutForeign(request: CanonicalRequest, target: Target, { id, signatures }: OwnKey): OwnReasoning {
  const isForeign = (part: Part): boolean => {
    const signature = signatureOf(part, target)
    if (signature === undefined) return false
    const issuer = signatures.keyOf(signature)
    return issuer === undefined ? target.isDrawn !== true : issuer !== id
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
  channels: Channels,
): readonly Target[] {
  if (targets.length < 2 || !targets.some(({ channel }) => channel.pooled !== undefined)) return targets
  const parts = messages.findLast(({ content }) => content.some(isSigned))?.content
  return parts === undefined ? targets : preferIssuer(targets, parts, channels)
}

const preferIssuer = (targets: readonly Target[], parts: readonly Part[], channels: Channels): readonly Target[] =>
  preferring(targets, target => isIssuer(target, parts, channels))

/** The channels at run time, by their configs. */
interface Channels {
  get(config: ChannelConfig): Channel
}

function isIssuer(target: Target, parts: readonly Part[], channels: Channels): boolean {
  const signatures = channels.get(target.channel).around?.signatures
  return signatures !== undefined && parts.some(part => isIssued(part, target, signatures))
}

const isSigned = (part: Part): boolean => part.type === 'reasoning' && part.signature !== undefined

function isIssued(part: Part, target: Target, signatures: SignatureKeys): boolean {
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
  return new SignatureWatcher(channel, next)
}

class SignatureWatcher implements EventWatcher {
  private readonly channel: Channel
  private readonly next: EventWatcher | undefined

  constructor(channel: Channel, next: EventWatcher | undefined) {
    this.channel = channel
    this.next = next
  }

  saw(event: CanonicalEvent): void {
    const { channel, next } = this
    if (event.type === 'part-start') notePart(event.part, channel)
    else if (event.type === 'part-patch') {
      if (event.signature !== undefined) note(event.signature.value, channel)
      if (event.part !== undefined) notePart(event.part, channel)
    }
    next?.saw(event)
  }
}
