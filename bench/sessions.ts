import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Cell } from './cells.ts'
import { KEY } from './configs.ts'
import type { Side } from './setup.ts'

/** Time between two messages of a session, which is also the length of the audio in each, in milliseconds. */
const EVERY = 20
/** Length of 20 ms of audio at 24 kHz, in bytes. */
const BYTES = 960

/** Result of a run of sessions. */
export interface Sessions {
  /** CPU time per message in either direction, in microseconds. */
  readonly cpu: number
  /** Median time from a message to its echo, in milliseconds. */
  readonly p50: number
  readonly p99: number
}

/**
 * Runs sessions that each send 50 messages per second and receive all of them back. They are opened one by one so that
 * they do not send at the same moment.
 */
export async function runSessions(cell: Cell, proxy: Side, count: number, milliseconds: number): Promise<Sessions> {
  const times: number[] = []
  let measured = false
  let messages = 0
  const echoed = (time: number): void => {
    if (!measured) return
    messages += 2
    times.push(performance.now() - time)
  }
  const ends = []
  for (let index = 0; index < count; index++) {
    ends.push(await openSession(cell, proxy, echoed))
    await sleep(EVERY / 10)
  }
  await sleep(500)
  const before = await proxy.read()
  measured = true
  await sleep(milliseconds)
  measured = false
  const { cpu } = await proxy.read()
  for (const end of ends) end()
  await sleep(300)
  times.sort((a, b) => a - b)
  const at = (part: number): number => times[Math.floor(times.length * part)] ?? Number.POSITIVE_INFINITY
  return { cpu: (cpu - before.cpu) / messages, p50: at(0.5), p99: at(0.99) }
}

/** Opens one session and starts sending. The returned function ends it. */
async function openSession(cell: Cell, proxy: Side, echoed: (time: number) => void): Promise<() => void> {
  const isGateway = proxy.name === 'gateway'
  const path = isGateway ? '/v1/realtime?model=realtime-echo' : '/echo/v1/realtime?model=upstream-model'
  const beta = isGateway && cell.mode === 'translated' ? { 'openai-beta': 'realtime=v1' } : {}
  const socket = new WebSocket(`${proxy.origin.replace('http', 'ws')}${path}`, {
    perMessageDeflate: false,
    headers: { authorization: `Bearer ${KEY}`, ...beta },
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('message', () => resolve())
  })
  socket.on('message', (data: Buffer) => {
    const time = timeOf(data)
    if (time !== undefined) echoed(time)
  })
  const timer = setInterval(() => socket.send(messageAt(performance.now())), EVERY)
  return () => {
    clearInterval(timer)
    socket.terminate()
  }
}

const audio = Buffer.alloc(BYTES, 'sound')

/** A message whose first samples contain the time it was sent. */
function messageAt(time: number): string {
  audio.writeDoubleLE(time, 0)
  return `{"type":"input_audio_buffer.append","audio":"${audio.toString('base64')}"}`
}

const DELTA = '"delta":"'

/** The time that an echo contains. Undefined for any other event. */
function timeOf(data: Buffer): number | undefined {
  const begin = data.indexOf(DELTA)
  if (begin < 0) return undefined
  return Buffer.from(data.toString('latin1', begin + DELTA.length, begin + DELTA.length + 12), 'base64').readDoubleLE(0)
}
