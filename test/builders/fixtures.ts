import { globSync, readFileSync } from 'node:fs'
import { isObject, type JsonObject } from '../../src/canonical/node.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { eventParser } from '../../src/ingress/transport/event-parser.ts'

/** Returns the project's own bodies of a format, without those translated from another. */
export const bodiesIn = (format: string, kind: string): readonly JsonObject[] =>
  pathsOf(format, kind)
    .map(path => JSON.parse(readFileSync(path, 'utf8')) as JsonObject)
    .map(file => (isObject(file['body']) ? file['body'] : file))

/** Returns the project's own streams of a format, without those translated from another. */
export const streamsIn = (format: string): readonly (readonly WireEvent[])[] =>
  pathsOf(format, 'events.sse').map(eventsIn)

/** Returns the events of a stream in a file. */
export function eventsIn(path: string): readonly WireEvent[] {
  const parser = eventParser()
  return [...parser.push(readFileSync(path)), ...parser.end()]
}

const pathsOf = (format: string, kind: string): readonly string[] =>
  globSync(`fixtures/${format}/*.${kind}`)
    .filter(path => !path.includes('.to-'))
    .sort()
