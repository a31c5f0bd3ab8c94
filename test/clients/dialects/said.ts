import type { Caller, Got } from '../caller.ts'
import { CALLERS } from '../callers/index.ts'
import { frame, type Loose } from '../scene.ts'
import type { Stage } from '../stage.ts'

/** A possible form of an upstream's answer, whole, streamed or both, and what every client must understand. */
export interface Said {
  readonly name: string
  readonly whole?: Loose
  /** Data of events, or the bytes of the stream. */
  readonly events?: readonly Loose[] | string
  readonly want: Partial<Got>
  /** Formats whose clients are not tested, because they get the upstream's own form. */
  readonly not?: readonly string[]
}

const SIZES = [1, 7, 97]

const named = (format: string, event: Loose): string =>
  frame(event, format === 'messages' || format === 'responses' ? event.type : undefined)

/** Returns what every client understood, by its name and by the kind of answer. */
export async function heardOf(stage: Stage, format: string, said: Said): Promise<{ [way: string]: unknown }> {
  const heard: { [way: string]: unknown } = {}
  for (const caller of CALLERS.filter(one => !said.not?.includes(one.format)))
    for (const stream of [false, true]) {
      if (said.whole !== undefined) {
        const text = typeof said.whole === 'string' ? said.whole : JSON.stringify(said.whole)
        speak(stage, text, 'application/json', 97)
        heard[`${caller.format}, ${stream ? 'streamed' : 'whole'}, of a whole answer`] = await ask(
          caller,
          stage,
          stream,
        )
      }
      if (said.events === undefined) continue
      const text = typeof said.events === 'string' ? said.events : said.events.map(one => named(format, one)).join('')
      for (const size of stream ? SIZES : [97]) {
        speak(stage, text, 'text/event-stream', size)
        const way = `${caller.format}, ${stream ? `streamed in ${size}s` : 'whole'}, of a stream`
        heard[way] = await ask(caller, stage, stream)
      }
    }
  return heard
}

function speak(stage: Stage, text: string, type: string, size: number): void {
  stage.does(async response => {
    response.writeHead(200, { 'content-type': type })
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += size) {
      response.write(bytes.subarray(at, at + size))
      if (at % 8 === 0) await new Promise(resolve => setImmediate(resolve))
    }
    response.end()
  })
}

async function ask(caller: Caller, stage: Stage, stream: boolean): Promise<unknown> {
  const got = await caller.open(stage.address).say({ text: 'Hi!' }, { stream, thinks: true })
  const finish = MEANINGS[got.finish ?? ''] ?? got.finish
  const ended = finish === 'stop' && got.calls.length > 0 ? 'calls' : finish
  return { ...got, thought: got.thought.replace(/\s+/g, ''), finish: ended }
}

/** Meaning of each client's finish word. Some clients have no word for calls. */
const MEANINGS: { readonly [word: string]: string } = {
  ...{ stop: 'stop', end_turn: 'stop', STOP: 'stop', completed: 'stop' },
  ...{ length: 'length', max_tokens: 'length', MAX_TOKENS: 'length', incomplete: 'length' },
  ...{ tool_calls: 'calls', tool_use: 'calls', function_call: 'calls' },
}
