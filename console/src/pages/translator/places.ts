/** Range of a text in UTF-16 code units. The range of a field includes its name. */
export interface Range {
  readonly start: number
  readonly end: number
}

const TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/suy
const WORD = /[^\s,:[\]{}"]+/uy
const SPACE = /\s*/uy

/**
 * Finds the ranges of JSON pointers in a JSON text.
 *
 * @returns ranges by pointer, without pointers that are not in the text. Empty for invalid JSON.
 */
export function rangesIn(text: string, pointers: Iterable<string>): ReadonlyMap<string, Range> {
  const wanted = new Set(pointers)
  const found = new Map<string, Range>()
  let at = 0
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const [taken = ''] = pattern.exec(text) ?? []
    at += taken.length
    return taken
  }
  const skip = (): string => {
    take(SPACE)
    return text[at] ?? ''
  }
  const value = (pointer: string, start: number): void => {
    const first = skip()
    if (first === '{') members(pointer)
    else if (first === '[') items(pointer)
    else if (take(first === '"' ? TEXT : WORD) === '') throw NOT_JSON
    if (wanted.has(pointer)) found.set(pointer, { start, end: at })
  }
  const members = (pointer: string): void => {
    at++
    while (skip() !== '}') {
      const start = at
      const name = take(TEXT)
      if (name === '' || skip() !== ':') throw NOT_JSON
      at++
      skip()
      value(`${pointer}/${escaped(JSON.parse(name) as string)}`, start)
      if (skip() === ',') at++
      else if (text[at] !== '}') throw NOT_JSON
    }
    at++
  }
  const items = (pointer: string): void => {
    at++
    for (let index = 0; skip() !== ']'; index++) {
      value(`${pointer}/${index}`, at)
      if (skip() === ',') at++
      else if (text[at] !== ']') throw NOT_JSON
    }
    at++
  }
  try {
    skip()
    value('', at)
  } catch {
    // Invalid or too deeply nested JSON has no ranges.
  }
  return found
}

const NOT_JSON = new Error('not JSON')

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

/** Finds the ranges of JSON pointers in server-sent events. The first step of a pointer is the index of the event. */
export function rangesInEvents(text: string, pointers: Iterable<string>): ReadonlyMap<string, Range> {
  const byEvent = Map.groupBy(pointers, pointer => Number(pointer.split('/')[1]))
  const found = new Map<string, Range>()
  const events = eventsIn(text)
  for (const [index, all] of byEvent) {
    const event = events[index]
    if (event === undefined) continue
    const below = (pointer: string): string => pointer.slice(`/${index}`.length)
    const inside = event.isOneLine
      ? rangesIn(text.slice(event.start, event.end), all.map(below))
      : new Map<string, Range>()
    for (const pointer of all) {
      const range = inside.get(below(pointer))
      found.set(
        pointer,
        range === undefined ? event : { start: event.start + range.start, end: event.start + range.end },
      )
    }
  }
  return found
}

interface EventRange extends Range {
  readonly isOneLine: boolean
}

/** Ranges and data of all events. */
function eventsIn(text: string): readonly EventRange[] {
  const events: EventRange[] = []
  let open: EventRange | undefined
  for (const { 0: line, index } of text.matchAll(/[^\r\n]*(?:\r\n|\r|\n|$)/gu)) {
    const content = line.replace(/[\r\n]+$/u, '')
    const data = /^data:? ?/u.exec(content)?.[0]
    if (content === '') {
      if (open !== undefined) events.push(open)
      open = undefined
    } else if (data !== undefined) {
      const end = index + content.length
      open =
        open === undefined
          ? { start: index + data.length, end, isOneLine: true }
          : { start: open.start, end, isOneLine: false }
    }
  }
  return events
}
