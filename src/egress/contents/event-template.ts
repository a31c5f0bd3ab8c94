import type { ResultStart } from '../../canonical/event.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { appendedFields } from '../fields.ts'
import { nativeExtras, withExtras } from './fields.ts'
import { isNativeAnswer, writeHead } from './result.ts'

/** The fixed text around the parts of events, built once per stream. */
export class EventTemplate {
  /** `,"modelVersion":…,"responseId":…`: fields of every event except the first. */
  private readonly tail: string
  /** Fields of the first event, the only one with the format's extras. */
  private readonly head: JsonObject
  /** True if the answer comes from an upstream of this format. */
  readonly isNative: boolean
  /** True if no event has been written yet. */
  isUnused = true

  constructor(start: ResultStart | undefined) {
    const fields = start === undefined ? {} : writeHead(start)
    this.tail = appendedFields(fields)
    this.isNative = start !== undefined && isNativeAnswer(start)
    this.head = start === undefined ? {} : withExtras(nativeExtras(start), fields)
  }

  /** The text before the parts of an event. */
  static readonly HEAD = '{"candidates":[{"content":{"parts":['

  /** The text after the parts of an event without other fields. */
  after(candidate: number): string {
    return `],"role":"model"},"index":${candidate}}]${this.tail}}`
  }

  /** Returns the text of an event with parts and other fields of one candidate. */
  event(candidate: number, parts: string, facts: JsonObject = {}): string {
    return `${EventTemplate.HEAD}${parts}],"role":"model"},"index":${candidate}${appendedFields(facts)}}]${this.answerFields()}}`
  }

  /** Returns the text of the last event: the candidates with their finish reasons, and the answer-level fields. */
  lastEvent(candidates: readonly JsonObject[] | undefined, facts: JsonObject): string {
    const fields = { ...(candidates === undefined ? {} : { candidates }), ...facts }
    const text = `${appendedFields(fields)}${this.answerFields()}`
    return `{${text.slice(1)}}`
  }

  /** Returns the answer-level fields as text. The first call returns the fields of the first event. */
  private answerFields(): string {
    if (!this.isUnused) return this.tail
    this.isUnused = false
    return appendedFields(this.head)
  }
}
