import { WebSocket } from 'ws'
import { until } from '../builders/time.ts'

// biome-ignore lint/suspicious/noExplicitAny: cases look into events of many shapes
export type Event = any

interface Opening {
  readonly key: string
  readonly path: string
  readonly ca?: string
}

/** A client of one of the gateway's sockets. */
export class Session {
  readonly events: Event[] = []
  private readonly socket: WebSocket
  private fault: Error | undefined

  constructor(address: string, { key, path, ca }: Opening) {
    this.socket = new WebSocket(`${address.replace(/^http/, 'ws')}${path}`, {
      headers: { authorization: `Bearer ${key}` },
      ...(ca === undefined ? {} : { ca }),
    })
    this.socket.on('message', data => this.events.push(JSON.parse(String(data))))
    this.socket.on('unexpected-response', (_, { statusCode }) => this.failed(`the upgrade was answered ${statusCode}`))
    this.socket.on('error', ({ message }) => this.failed(message))
    this.socket.on('close', code => this.failed(`it was closed with ${code}`))
  }

  async opened(): Promise<void> {
    await until(() => this.socket.readyState === WebSocket.OPEN || this.fault !== undefined)
    if (this.fault !== undefined) throw this.fault
  }

  send(event: object): void {
    this.socket.send(JSON.stringify(event))
  }

  /** Returns the first event of a type. Rejects if the connection fails, or an error event comes first. */
  async first(type: string): Promise<Event> {
    const found = (): Event => this.events.find(event => event.type === type)
    const error = (): Event => (type === 'error' ? undefined : this.events.find(event => event.type === 'error'))
    await until(() => found() !== undefined || error() !== undefined || this.fault !== undefined)
    if (found() !== undefined) return found()
    throw this.fault ?? new Error(JSON.stringify(error()))
  }

  close(): void {
    this.socket.terminate()
  }

  private failed(why: string): void {
    this.fault ??= new Error(why)
  }
}

/** Takes one turn in text of a voice session, and returns the model's answer. */
export async function spokenTo(session: Session): Promise<string> {
  await session.first('session.created')
  session.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } })
  const content = [{ type: 'input_text', text: 'Hello.' }]
  session.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } })
  session.send({ type: 'response.create' })
  const { response } = await session.first('response.done')
  const [part] = response.output[0].content
  return part.text ?? part.transcript
}
