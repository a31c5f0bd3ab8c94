import type { Ending, Grammar } from '../../grammar.ts'
import { isObject, type Json, type JsonObject, listOf, numberOf, objectOf, parseJson, textOf } from '../../json.ts'
import { type Violation, Violations } from '../../rules.ts'
import type { SseEvent } from '../../sse.ts'
import { ERROR_TYPE_NAMES } from './lint.ts'

/* Checks the order of events in a messages stream. Source: https://platform.claude.com/docs/en/build-with-claude/streaming */

/** Types of blocks in which each type of delta is allowed. */
const BLOCKS_OF_DELTA: { readonly [delta: string]: readonly string[] } = {
  text_delta: ['text'],
  citations_delta: ['text'],
  input_json_delta: ['tool_use', 'server_tool_use', 'mcp_tool_use'],
  thinking_delta: ['thinking'],
  signature_delta: ['thinking'],
  compaction_delta: ['compaction'],
}

interface Block {
  readonly index: number
  readonly type: string
  input: string
  last: string | undefined
}

type Handler = (event: JsonObject) => void

class MessagesGrammar implements Grammar {
  private readonly violations = new Violations()
  private open: Block | undefined
  private nextIndex = 0
  private hasStarted = false
  private hasStopped = false
  private hasFailed = false
  private calls = 0
  private output = 0
  private reason: string | undefined
  private deltas = 0

  private readonly handlers: { readonly [type: string]: Handler } = {
    message_start: event => this.start(objectOf(event['message'])),
    content_block_start: event => this.blockStart(event),
    content_block_delta: event => this.blockDelta(event),
    content_block_stop: event => this.blockStop(event),
    message_delta: event => this.messageDelta(event),
    message_stop: () => this.stop(),
    error: event => this.error(event['error']),
  }

  event({ name, data: text }: SseEvent, data: Json | undefined): void {
    const type = isObject(data) ? textOf(data['type']) : undefined
    // Clients raise an error if an event has this name, no matter what its data is, and only then.
    if (name === 'error') this.hasFailed = true
    else if (type === 'error') this.violations.add('error-event', `An error has the name ${name ?? 'nothing'}.`)
    if (!isObject(data) || type === undefined)
      return this.violations.add('json', `The data is not an event: ${text.slice(0, 100)}`)
    if (name !== type) this.violations.add('event-name', `An event named ${name ?? 'nothing'} has the type ${type}.`)
    if (type === 'ping') return
    if (this.hasStopped) this.violations.add('stop-last', `${type} follows message_stop.`)
    if (!this.hasStarted && type !== 'message_start' && type !== 'error')
      this.violations.add('start-first', `${type} comes before message_start.`)
    this.handlers[type]?.(data)
  }

  get ending(): Ending | undefined {
    if (this.hasFailed) return 'error'
    return this.hasStopped || this.reason !== undefined ? 'normal' : undefined
  }

  end(isComplete: boolean): readonly Violation[] {
    if (!isComplete || this.hasFailed) return this.violations.list
    if (!this.hasStarted) this.violations.add('start-first', 'The stream has no message_start.')
    if (this.deltas === 0) this.violations.add('usage', 'The stream has no message_delta.')
    if (this.reason === undefined) this.violations.add('stop-reason', 'No message_delta has a stop_reason.')
    if (!this.hasStopped) this.violations.add('stop-last', 'The stream has no message_stop.')
    if ((this.reason === 'tool_use' && this.calls === 0) || (this.reason === 'end_turn' && this.calls > 0))
      this.violations.add('stop-fits-calls', `The answer has ${this.calls} calls and stops with ${this.reason}.`)
    return this.violations.list
  }

  private start(message: JsonObject): void {
    if (this.hasStarted) this.violations.add('start-first', 'A second message_start.')
    this.hasStarted = true
    if (listOf(message['content']).length > 0 || message['stop_reason'] != null)
      this.violations.add('start-first', 'message_start has content or a stop_reason.')
    const usage = message['usage']
    if (!isObject(usage) || typeof usage['input_tokens'] !== 'number')
      this.violations.add('usage', 'message_start has no input_tokens.')
    this.output = numberOf(objectOf(usage)['output_tokens']) ?? 0
  }

  private blockStart(event: JsonObject): void {
    const index = numberOf(event['index']) ?? -1
    const block = objectOf(event['content_block'])
    const type = textOf(block['type']) ?? ''
    if (this.open !== undefined)
      this.violations.add('block-stops', `Block ${index} begins while block ${this.open.index} is open.`)
    if (index !== this.nextIndex)
      this.violations.add('block-index', `Block ${index} begins, but ${this.nextIndex} is the next index.`)
    this.nextIndex = index + 1
    this.open = { index, type, input: '', last: undefined }
    if (type !== 'tool_use') return
    this.calls++
    if (!textOf(block['id']) || !textOf(block['name']))
      this.violations.add('call-has-id', `Block ${index} begins as ${JSON.stringify(block).slice(0, 100)}`)
  }

  private blockDelta(event: JsonObject): void {
    const { open } = this
    const delta = objectOf(event['delta'])
    const type = textOf(delta['type']) ?? ''
    if (open === undefined || open.index !== event['index'])
      return this.violations.add('block-index', `${type} refers to block ${String(event['index'])}, which is not open.`)
    const fits = BLOCKS_OF_DELTA[type]
    if (fits !== undefined && !fits.includes(open.type))
      this.violations.add('delta-fits-block', `${type} occurs in a block of the type ${open.type}.`)
    if (open.last === 'signature_delta' && type !== 'signature_delta')
      this.violations.add('signature-last', `${type} follows signature_delta.`)
    open.last = type
    if (type === 'input_json_delta') open.input += textOf(delta['partial_json']) ?? ''
  }

  private blockStop(event: JsonObject): void {
    const { open } = this
    if (open === undefined || open.index !== event['index'])
      return this.violations.add('block-index', `Block ${String(event['index'])} stops, which is not open.`)
    this.open = undefined
    // Arguments that the token limit truncated are not JSON. The finish reason, which reveals the truncation, comes
    // later.
    if (open.input !== '' && !isObject(parseJson(open.input)))
      this.truncatedInput = `Block ${open.index}: ${open.input.slice(0, 100)}`
  }

  /** Input of a call that is not an object. This is a fault unless the answer was truncated. */
  private truncatedInput: string | undefined

  private messageDelta({ delta, usage }: JsonObject): void {
    this.deltas++
    if (this.open !== undefined)
      this.violations.add('block-stops', `message_delta arrives while block ${this.open.index} is open.`)
    this.reason = textOf(objectOf(delta)['stop_reason']) ?? this.reason
    if (this.truncatedInput !== undefined && this.reason !== 'max_tokens')
      this.violations.add('input-json', this.truncatedInput)
    const output = numberOf(objectOf(usage)['output_tokens'])
    if (output === undefined) this.violations.add('usage', 'message_delta has no output_tokens.')
    else if (output < this.output)
      this.violations.add('usage', `output_tokens decreases from ${this.output} to ${output}.`)
    else this.output = output
  }

  private error(error: Json | undefined): void {
    const { type, message } = objectOf(error)
    if (!textOf(message) || !ERROR_TYPE_NAMES.has(type ?? ''))
      this.violations.add('error-event', `The error is ${JSON.stringify(error)?.slice(0, 100)}.`)
  }

  private stop(): void {
    if (this.deltas === 0) this.violations.add('stop-last', 'message_stop comes before message_delta.')
    this.hasStopped = true
  }
}

export const grammar = (): Grammar => new MessagesGrammar()
