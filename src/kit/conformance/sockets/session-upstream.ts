import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Headers } from '../format.ts'
import type { JsonObject } from '../json.ts'
import type { Upstream } from '../upstream.ts'
import { SESSION_FORMATS } from './formats.ts'
import type { Closing, Frame } from './frame.ts'
import { IssuedSecrets } from './issued-secrets.ts'
import { play } from './play.ts'
import type { SessionFormat } from './session-format.ts'
import type { Line, SessionScenario } from './session-scenario.ts'
import { accept, type Socket } from './socket.ts'

/** A session that a peer opened at the kit's upstream. */
export interface SessionArrival {
  readonly format: string
  readonly path: string
  readonly headers: Headers
  readonly received: readonly Frame[]
  readonly sent: readonly JsonObject[]
  readonly closed: Closing | undefined
  /** Settings of the client secret that opened the session. */
  readonly secretSession?: JsonObject | undefined
}

/** Time that the upstream waits for a frame, in milliseconds. Must exceed the frame timeouts of the kit's callers. */
const FRAME_TIMEOUT_MS = 30_000

interface OpenSession {
  readonly format: SessionFormat
  readonly path: string
  readonly headers: Headers
  readonly socket: Socket
  readonly secretSession: JsonObject | undefined
  sent: readonly JsonObject[]
}

/**
 * Installs a handler that answers certain frames at once, outside the script, because a gateway may send more of them
 * than its caller did.
 *
 * @returns the script without these frames and their answers.
 */
function answerAtOnce(socket: Socket, format: SessionFormat, script: readonly Line[]): Line[] {
  const { echo } = format
  if (echo === undefined) return [...script]
  const kindOf = (line: Line): string => ('frame' in line ? format.kind(line.frame) : '')
  const answers = script.flatMap(line => ('frame' in line && kindOf(line) === echo.reply ? [line.frame] : []))
  let count = 0
  socket.onFrame = ({ data }) => {
    if (format.kind(data) !== echo.request || answers.length === 0) return
    const answer = answers[Math.min(count++, answers.length - 1)]!
    socket.send(JSON.stringify({ ...answer, event_id: `event_echo_${count}` }))
  }
  return script.filter(line => kindOf(line) !== echo.request && kindOf(line) !== echo.reply)
}

/** Serves sessions on the server of the kit's upstream. */
export class SessionUpstream {
  private scenario: SessionScenario | undefined
  private open: OpenSession[] = []
  private readonly secrets = new IssuedSecrets()
  private readonly upstream: Upstream

  constructor(upstream: Upstream) {
    this.upstream = upstream
    upstream.onOther(sent => this.secrets.answer(sent))
    upstream.onUpgrade((message, connection, head) => {
      this.answer(message, connection, head).catch(() => connection.destroy())
    })
  }

  /** Starts to play a scenario, and ends the sessions of earlier scenarios. */
  play(scenario: SessionScenario): void {
    this.close()
    this.scenario = scenario
    this.open = []
  }

  /** Sessions since `play`. */
  get arrived(): readonly SessionArrival[] {
    return this.open.map(({ format, path, headers, socket, sent, secretSession }) => ({
      ...{ format: format.name, path, headers, secretSession, received: socket.received, sent, closed: socket.closed },
    }))
  }

  /** Waits until the peer has closed its sessions, for at most the given number of milliseconds. */
  async settled(ms: number): Promise<void> {
    await Promise.all(this.open.map(({ socket }) => socket.waitUntil(() => socket.closed !== undefined, ms)))
  }

  close(): void {
    for (const { socket } of this.open) socket.terminate()
  }

  private async answer(message: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> {
    const url = `${this.upstream.root}${message.url ?? '/'}`
    const format = Object.values(SESSION_FORMATS).find(
      ({ name, recognises }) =>
        url.startsWith(`${this.upstream.base(name)}/`) && recognises(url.slice(this.upstream.base(name).length)),
    )
    const script = this.scenario?.scripts[format?.name ?? '']
    if (format === undefined || script === undefined) {
      connection.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
      return
    }
    const headers = Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, String(value)]))
    if (!this.secrets.isValid(headers)) {
      connection.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
      return
    }
    const socket = await accept(message, connection, head)
    const path = url.slice(this.upstream.base(format.name).length)
    const secretSession = this.secrets.sessionOf(headers)
    const session: OpenSession = { format, path, headers, socket, secretSession, sent: [] }
    this.open.push(session)
    const rest = answerAtOnce(socket, format, script)
    const { sent } = await play(socket, {
      side: 'server',
      format,
      script: rest,
      model: 'kit',
      frameTimeoutMs: FRAME_TIMEOUT_MS,
    })
    session.sent = sent
  }
}
