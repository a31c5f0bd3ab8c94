import { globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { BufferedBytes, type Bytes } from '../src/canonical/bytes.ts'
import type { Loss } from '../src/canonical/loss.ts'
import type { JsonObject } from '../src/canonical/node.ts'
import type { CanonicalRequest } from '../src/canonical/request.ts'
import { chain, drain } from '../src/canonical/transducer.ts'
import type { WireRequest } from '../src/canonical/wire.ts'
import { type Work, workOf } from '../src/canonical/work.ts'
import { WRITERS } from '../src/egress/index.ts'
import { EVENT_STREAM } from '../src/egress/transport/sse.ts'
import { FORMAT_FACTS } from '../src/formats/index.ts'
import { READERS } from '../src/ingress/index.ts'
import { eventParser } from '../src/ingress/transport/event-parser.ts'
import { FOREIGN } from './builders/write-options.ts'
import { handedTo } from './laws/support.ts'

/** A fixture is `fixtures/<format>/<name>.<kind>.<ext>`. Its goldens have `.to-<format>` before the extension. */
export interface Fixture {
  readonly path: string
  readonly format: string
  readonly name: string
  readonly kind: string
}

const FIXTURE = /^([a-z0-9-]+)\.(request\.json|result\.json|error\.json|events\.sse)$/
const GOLDEN = /\.to-[a-z]+\.(json|sse)$/

export const FIXTURES: readonly Fixture[] = globSync('fixtures/*/*')
  .sort()
  .flatMap(path => {
    const [, name, kind] = FIXTURE.exec(basename(path)) ?? []
    return name === undefined ? [] : [{ path, format: basename(dirname(path)), name, kind: kind!.split('.')[0]! }]
  })

export const goldensThere = (): readonly string[] =>
  globSync('fixtures/*/*')
    .filter(path => GOLDEN.test(path))
    .sort()

export interface Golden {
  readonly path: string
  readonly make: () => string
}

/** Returns all translations of a fixture into the other formats. */
export function goldensOf(fixture: Fixture): readonly Golden[] {
  const make = MAKERS[fixture.kind]
  if (make === undefined) return []
  const direction = fixture.kind as 'request' | 'result' | 'events'
  if (READERS[fixture.format]?.[direction] === undefined) return []
  const request = requestOf(fixture)
  const work = request === undefined ? usualWork(fixture.format) : workOf(request)
  return Object.keys(WRITERS)
    .filter(to => to !== fixture.format && WRITERS[to]![direction] !== undefined && can(to, work))
    .map(to => ({ path: fixture.path.replace(/\.(json|sse)$/, `.to-${to}.$1`), make: () => make(fixture, to) }))
}

/** Returns the work of an answer without its request: a conversation, or the main work of its format's upstreams. */
function usualWork(format: string): Work {
  const does = doesOf(format)
  return does.includes(workOf(BARE)) ? workOf(BARE) : does[0]!
}

/**
 * Whether a fixture can be translated to the format: an upstream of the format does that work, or a caller gets such
 * answers.
 */
const can = (format: string, work: Work): boolean => doesOf(format).includes(work)

/** Formats that no upstream uses, and the work that their callers request. */
const CALLERS_ONLY: { readonly [format: string]: readonly Work[] } = { generations: ['video'] }

const doesOf = (format: string): readonly Work[] => FORMAT_FACTS.get(format)?.does ?? CALLERS_ONLY[format]!

const MAKERS: { readonly [kind: string]: (fixture: Fixture, to: string) => string } = {
  request: (fixture, to) => pretty(WRITERS[to]!.request!(requestTo(fixture, to)!, FOREIGN)),
  result: (fixture, to) => {
    const asked = askedBy(fixture, false)
    const result = READERS[fixture.format]!.result!({ status: 200, headers: {}, body: jsonOf(fixture.path) }, asked)
    const { wire, losses } = WRITERS[to]!.result!({ ...DRESS, ...result }, asked)
    return pretty({ wire: wire.body, losses })
  },
  events: (fixture, to) => {
    const asked = askedBy(fixture, true)
    const wire = drain(eventParser(), [readFileSync(fixture.path)])
    const machine = chain(READERS[fixture.format]!.events!(asked), WRITERS[to]!.events!(asked))
    return drain(machine, wire)
      .map((event, index) => EVENT_STREAM.frame(event, index === 0))
      .join('')
  },
}

/** Fields that the gateway adds if the upstream does not state them. */
const DRESS = { id: 'golden', model: 'replay', createdAt: 0 }

const pretty = ({ wire, losses }: { readonly wire: unknown; readonly losses: readonly Loss[] }): string =>
  `${JSON.stringify({ wire, losses }, null, 2)}\n`

const jsonOf = (path: string): JsonObject => JSON.parse(readFileSync(path, 'utf8'))

/** Reads the request of a fixture. */
export function requestOf({ format, path }: Fixture): CanonicalRequest | undefined {
  const file = path.replace(/\.(request\.json|result\.json|events\.sse)$/, '.request.json')
  if (globSync(file).length === 0) return undefined
  return READERS[format]!.request!(revived(jsonOf(file) as unknown as WireRequest))
}

/** Returns the request as a format's writer gets it. */
export function requestTo(fixture: Fixture, to: string): CanonicalRequest | undefined {
  const request = requestOf(fixture)
  return request && handedTo(to, request)
}

/** Decodes files, which fixtures contain as base64. */
function revived(wire: WireRequest): WireRequest {
  if (wire.files === undefined) return wire
  const held = (bytes: unknown): Bytes => new BufferedBytes(Buffer.from(String(bytes), 'base64'))
  return { ...wire, files: wire.files.map(file => ({ ...file, bytes: held(file.bytes) })) }
}

const BARE: CanonicalRequest = { model: 'replay', messages: [], output: {}, sampling: {}, stream: false }

/** Returns the request that an answer belongs to. Chat callers are assumed to request token counts. */
function askedBy(fixture: Fixture, stream: boolean): CanonicalRequest {
  const request = requestOf(fixture) ?? BARE
  const chat = { stream_options: { include_usage: true } }
  return { ...request, stream, spelling: { ...request.spelling, chat } }
}
