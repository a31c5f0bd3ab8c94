import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PositionedFault } from './faults.ts'

/** An answer as sent to a caller. */
export interface ServedAnswer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  /** Time from the start of the request to the head of the answer, in milliseconds. */
  readonly ms: number
  readonly chunks: readonly ServedChunk[]
  readonly isComplete: boolean
}

interface ServedChunk {
  readonly ms: number
  readonly bytes: Buffer
  /** Pause before the chunk in milliseconds, whatever the speed. */
  readonly pause?: number
}

/** Option of timers that do not keep a stopped server's process from ending. */
export const UNREFERENCED = { ref: false } as const

/** Maximum number of bytes that a fault overwrites. */
const GARBLED_BYTES = 8

/** Returns the answer with a fault at a position in its body. */
export function withFault(answer: ServedAnswer, fault: PositionedFault): ServedAnswer {
  const { chunks } = answer
  const size = chunks.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const [before, after] = splitAt(chunks, Math.floor(fault.at * size))
  if (fault.type === 'cut') return { ...answer, chunks: before, isComplete: false }
  const [first, ...rest] = after
  if (first === undefined || fault.type === 'status') return answer
  const faultyChunk = fault.type === 'stall' ? { ...first, pause: fault.ms } : { ...first, bytes: garble(first.bytes) }
  return { ...answer, chunks: [...before, faultyChunk, ...rest] }
}

/** Overwrites bytes with zeros, which neither JSON nor events contain. */
function garble(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy.fill(0, 0, Math.min(GARBLED_BYTES, copy.length))
  return copy
}

/** Splits a body at a byte offset. Splits a chunk that spans the offset. */
function splitAt(chunks: readonly ServedChunk[], offset: number): [readonly ServedChunk[], readonly ServedChunk[]] {
  const [before, after]: [ServedChunk[], ServedChunk[]] = [[], []]
  let start = 0
  for (const chunk of chunks) {
    const cut = Math.min(Math.max(offset - start, 0), chunk.bytes.length)
    if (cut > 0) before.push({ ...chunk, bytes: chunk.bytes.subarray(0, cut) })
    if (cut < chunk.bytes.length) after.push({ ...chunk, bytes: chunk.bytes.subarray(cut) })
    start += chunk.bytes.length
  }
  return [before, after]
}

/** Returns the size of an answer with one chunk, so that a download shows its progress. */
function lengthOf({ chunks: [only, ...others], isComplete }: ServedAnswer): { readonly 'content-length'?: number } {
  const isKnown = isComplete && only !== undefined && only.bytes.length > 0 && others.length === 0
  return isKnown ? { 'content-length': only.bytes.length } : {}
}

/** Returns the part of a whole answer that a header `range` requests (RFC 9110 §14). */
export function withRange(answer: ServedAnswer, range: string): ServedAnswer {
  const bytes = Buffer.concat(answer.chunks.map(chunk => chunk.bytes))
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? []
  if (answer.status !== 200 || first === undefined || first + last! === '') return answer
  const start = first === '' ? Math.max(0, bytes.length - Number(last)) : Number(first)
  const end = first === '' || last === '' ? bytes.length : Math.min(bytes.length, Number(last) + 1)
  const part = (status: number, head: string, chunk: Buffer): ServedAnswer => ({
    ...{ ...answer, status, headers: { ...answer.headers, 'content-range': `bytes ${head}/${bytes.length}` } },
    chunks: [{ ms: answer.ms, bytes: chunk }],
  })
  if (start >= end) return part(416, '*', Buffer.alloc(0))
  return part(206, `${start}-${end - 1}`, bytes.subarray(start, end))
}

/**
 * Sends an answer. Chunks are sent at their recorded times divided by the speed, or without waiting if the speed is 0.
 */
export async function sendAnswer(reply: ServerResponse, answer: ServedAnswer, speed: number): Promise<void> {
  const startedAt = performance.now()
  const waitUntil = async (ms: number): Promise<void> => {
    const wait = speed === 0 ? 0 : ms / speed - (performance.now() - startedAt)
    if (wait > 1) await sleep(wait, undefined, UNREFERENCED)
  }
  await waitUntil(answer.ms)
  reply.writeHead(answer.status, { ...answer.headers, ...lengthOf(answer) })
  reply.flushHeaders()
  for (const { ms, bytes, pause } of answer.chunks) {
    await waitUntil(ms)
    if (pause !== undefined) await sleep(pause, undefined, UNREFERENCED)
    if (reply.destroyed) return
    if (bytes.length > 0) await new Promise<void>(done => reply.write(bytes, () => done()))
  }
  if (answer.isComplete) reply.end()
  else reply.destroy()
}
