import type { Json, JsonObject } from '../../src/canonical/node.ts'

interface Part {
  readonly type: string
  text: string
  audioBytes: number
  isDone: boolean
}

interface Output {
  readonly item: string
  readonly type: string
  readonly parts: Map<number, Part>
  callArguments: string
  isDone: boolean
}

interface Response {
  readonly isDetached: boolean
  readonly outputs: Output[]
}

/**
 * A strict client of OpenAI's realtime format (GA). It keeps the conversation and the open responses as SDKs do, and
 * throws if an event does not fit to those before it.
 */
export class Mirror {
  /** Ids of the conversation's items, in order. */
  readonly items: string[] = []
  /** Items by id, as they were last sent. */
  readonly known = new Map<string, JsonObject>()
  readonly open = new Map<string, Response>()
  /** Status and details of each response that has ended. */
  readonly ended = new Map<string, JsonObject>()
  /** Bytes of audio of each item. */
  readonly audio = new Map<string, Buffer[]>()
  readonly errors: JsonObject[] = []
  readonly transcripts = new Map<string, string>()
  readonly calls: { readonly id: string; readonly status: string }[] = []
  private speech: string | undefined
  /** True if speech that has started was forgotten with its audio. */
  private mayStartAgain = false
  count = 0
  private readonly eventIds = new Set<string>()
  private readonly itemIds = new Set<string>()
  private readonly unfinished = new Set<string>()
  private readonly transcribing = new Map<string, string>()

  /** The first event that did not fit. */
  fault: string | undefined

  /** Takes one frame. */
  take(frame: string): JsonObject {
    const event = JSON.parse(frame) as JsonObject
    const type = String(event['type'])
    const fault = (why: string): never => {
      this.fault ??= `${type}: ${why}: ${frame.slice(0, 400)}`
      throw new Error(this.fault)
    }
    if ((this.count++ === 0) !== (type === 'session.created')) fault('session.created is the first event, once')
    const id = String(event['event_id'])
    if (this.eventIds.has(id)) fault('the event id was used before')
    this.eventIds.add(id)
    this.handle(type, event, fault)
    return event
  }

  /** Throws if something is still open. */
  checkQuiet(): void {
    if (this.fault !== undefined) throw new Error(this.fault)
    if (this.open.size > 0) throw new Error(`Responses stay open: ${[...this.open.keys()]}`)
    if (this.unfinished.size > 0) throw new Error(`Items stay unfinished: ${[...this.unfinished]}`)
  }

  private handle(type: string, event: JsonObject, fault: (why: string) => never): void {
    const response = this.open.get(String(event['response_id']))
    const output = response?.outputs[Number(event['output_index'])]
    const part = output?.parts.get(Number(event['content_index']))
    if (type.startsWith('response.') && type !== 'response.created' && type !== 'response.done') {
      if (response === undefined) fault('of no open response')
      if (type !== 'response.output_item.added') {
        if (output === undefined || output.isDone) fault('of no open item')
        const id = (event['item'] as JsonObject | undefined)?.['id'] ?? event['item_id']
        if (output!.item !== id) fault('of another item')
      }
    }
    const openPart = (): Part => (part === undefined || part.isDone ? fault('of no open part') : part)
    switch (type) {
      // Speech that has started is forgotten.
      case 'input_audio_buffer.cleared':
        this.mayStartAgain = true
        break
      case 'session.updated':
        this.mayStartAgain ||= JSON.stringify(event['session']).includes('"turn_detection":null')
        break
      case 'conversation.created':
        if (this.count !== 2) fault('it follows session.created')
        break
      case 'session.created':
      case 'conversation.item.truncated':
      case 'conversation.item.retrieved':
        break
      case 'error':
        this.errors.push(event['error'] as JsonObject)
        break
      case 'input_audio_buffer.speech_started':
        if (this.speech !== undefined && !this.mayStartAgain) fault('speech has started')
        this.speech = String(event['item_id'])
        this.mayStartAgain = false
        break
      case 'input_audio_buffer.speech_stopped':
        if (this.speech !== event['item_id']) fault('of another speech')
        this.speech = undefined
        break
      case 'input_audio_buffer.committed':
        if (this.speech !== undefined && this.speech !== event['item_id'] && !this.mayStartAgain)
          fault('while speech runs')
        this.speech = undefined
        break
      case 'conversation.item.added':
        this.add(event, fault)
        break
      case 'conversation.item.done': {
        const item = event['item'] as JsonObject
        if (!this.unfinished.delete(String(item['id']))) fault('of no unfinished item')
        if (item['status'] === 'in_progress') fault('it is in progress')
        break
      }
      case 'conversation.item.deleted': {
        const at = this.items.indexOf(String(event['item_id']))
        if (at < 0) fault('of no item')
        this.items.splice(at, 1)
        break
      }
      case 'conversation.item.input_audio_transcription.delta':
        if (!this.itemIds.has(String(event['item_id']))) fault('of no item')
        if (this.transcripts.has(keyOf(event))) fault('after the transcript')
        this.transcribing.set(keyOf(event), (this.transcribing.get(keyOf(event)) ?? '') + String(event['delta']))
        break
      case 'conversation.item.input_audio_transcription.completed':
        if (!this.itemIds.has(String(event['item_id']))) fault('of no item')
        if (this.transcripts.has(keyOf(event))) fault('twice')
        if ((this.transcribing.get(keyOf(event)) ?? '') !== event['transcript']) fault('differs from its deltas')
        this.transcripts.set(keyOf(event), String(event['transcript']))
        break
      case 'conversation.item.input_audio_transcription.failed':
        if (this.transcripts.has(keyOf(event))) fault('after the transcript')
        break
      case 'response.created':
        this.start(event['response'] as JsonObject, fault)
        break
      case 'response.output_item.added': {
        const item = event['item'] as JsonObject
        if (event['output_index'] !== response!.outputs.length) fault('out of order')
        if (this.itemIds.has(String(item['id']))) fault('the item id was used before')
        if (response!.isDetached) this.itemIds.add(String(item['id']))
        response!.outputs.push({
          ...{ item: String(item['id']), type: String(item['type']), parts: new Map() },
          ...{ callArguments: '', isDone: false },
        })
        break
      }
      case 'response.content_part.added': {
        const index = Number(event['content_index'])
        if (index !== output!.parts.size) fault('out of order')
        output!.parts.set(index, {
          ...{ type: String((event['part'] as JsonObject)['type']), text: '' },
          ...{ audioBytes: 0, isDone: false },
        })
        break
      }
      case 'response.output_audio.delta': {
        const bytes = Buffer.from(String(event['delta']), 'base64')
        if (openPart().type !== 'audio') fault('of no audio')
        this.audio.set(output!.item, [...(this.audio.get(output!.item) ?? []), bytes])
        break
      }
      case 'response.output_audio_transcript.delta':
      case 'response.output_text.delta':
        if ((openPart().type === 'text') !== (type === 'response.output_text.delta')) fault('of another kind')
        openPart().text += String(event['delta'])
        break
      case 'response.output_audio.done':
        openPart()
        break
      case 'response.output_audio_transcript.done':
        if (openPart().text !== event['transcript']) fault('differs from its deltas')
        break
      case 'response.output_text.done':
        if (openPart().text !== event['text']) fault('differs from its deltas')
        break
      case 'response.content_part.done':
        openPart().isDone = true
        break
      case 'response.function_call_arguments.delta':
        output!.callArguments += String(event['delta'])
        break
      case 'response.function_call_arguments.done':
        if (output!.callArguments !== event['arguments']) fault('differs from its deltas')
        break
      case 'response.output_item.done':
        this.endOutput(output!, event['item'] as JsonObject, fault)
        break
      case 'response.done':
        this.end(event['response'] as JsonObject, fault)
        break
      default:
        fault('unknown')
    }
  }

  private add({ item, previous_item_id: previous }: JsonObject, fault: (why: string) => never): void {
    const id = String((item as JsonObject)['id'])
    if (this.itemIds.has(id)) fault('the item id was used before')
    this.itemIds.add(id)
    this.unfinished.add(id)
    this.known.set(id, item as JsonObject)
    const at = this.positionAfter(previous)
    if (at === undefined) fault(`previous item unknown among ${this.items}`)
    this.items.splice(at!, 0, id)
  }

  private positionAfter(previous: Json | undefined): number | undefined {
    if (previous === null) return 0
    const at = this.items.indexOf(String(previous))
    return at < 0 ? undefined : at + 1
  }

  private start(response: JsonObject, fault: (why: string) => never): void {
    const id = String(response['id'])
    if (this.open.has(id) || this.ended.has(id)) fault('twice')
    const isDetached = response['conversation_id'] === null
    if (!isDetached && [...this.open.values()].some(one => !one.isDetached)) fault('another response is open')
    this.open.set(id, { isDetached, outputs: [] })
  }

  private endOutput(output: Output, item: JsonObject, fault: (why: string) => never): void {
    output.isDone = true
    if ([...output.parts.values()].some(({ isDone }) => !isDone)) fault('a part is open')
    this.known.set(output.item, item)
    if (item['type'] === 'function_call') {
      if (item['arguments'] !== output.callArguments) fault('arguments differ')
      this.calls.push({ id: String(item['call_id']), status: String(item['status']) })
      return
    }
    const content = item['content'] as JsonObject[]
    if (content.length !== output.parts.size) fault('parts differ')
    for (const [index, one] of content.entries())
      if ((one['transcript'] ?? one['text']) !== output.parts.get(index)!.text) fault('a text differs')
  }

  private end(response: JsonObject, fault: (why: string) => never): void {
    const id = String(response['id'])
    const open = this.open.get(id)
    if (open === undefined) fault('of no open response')
    if (open!.outputs.some(({ isDone }) => !isDone)) fault('an item is open')
    const ids = (response['output'] as JsonObject[]).map(one => one['id'])
    if (ids.join() !== open!.outputs.map(({ item }) => item).join()) fault('other items')
    this.open.delete(id)
    this.ended.set(id, response)
  }
}

const keyOf = ({ item_id, content_index }: JsonObject): string => `${item_id} ${content_index}`
