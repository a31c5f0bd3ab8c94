import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { unfold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { shownLosses } from '../../src/egress/losses.ts'
import { prepare } from '../../src/gateway/prepare.ts'
import { READERS } from '../../src/ingress/index.ts'
import { PATHS } from '../builders/paths.ts'
import { asked, result } from './arbitrary-result.ts'
import { dataOf, ECHOES } from './echo.ts'
import { holds, plain } from './support.ts'

/*
 * The second turn of an agent: the official SDK of the caller's format returns the gateway's answer as history, and the
 * gateway writes it for the upstream that generated it.
 */
/** Losses that are allowed, and the reasons. */
const EXCEPTIONS: { readonly [reason: string]: string } = {
  'unsigned-thinking': 'Claude takes no thought without its own proof, which chat has no slot for',
  'no-reasoning-of-others': 'nor does Responses',
  'nothing-behind-the-reasoning': 'nor one that ends its turn, as where the answer was cut',
  'no-reasoning-in-history': 'chat takes thoughts back only where its dialect says so',
  'no-hidden-reasoning': 'nor hidden ones, which have no words',
  'joined-with-the-one-before': 'no answer of Google’s has two thoughts in a row that nothing divides',
  'joined-with-the-next': 'the same',
  'search-said-in-words': 'histories of contents hold no searches, and Claude takes only its own pages',
}

/**
 * Returns the answer as an upstream would send it: arguments are JSON, ids differ, signatures are its own. Another law
 * covers images and sound.
 */
function realistic(answer: CanonicalResult, upstream: string): CanonicalResult {
  const candidates = answer.candidates.slice(0, 1).map(candidate => ({
    ...candidate,
    content: candidate.content.filter(({ type }) => type !== 'media').map((part, index) => said(part, index, upstream)),
  }))
  return { ...answer, candidates }
}

/** What a page of Claude's own search has. */
const OWN_PAGE = { encrypted_content: 'of the page' }

function said(part: Part, index: number, upstream: string): Part {
  if (part.type === 'reasoning' && part.signature !== undefined)
    return { ...part, signature: { ...part.signature, format: upstream } }
  if (part.type === 'search-result' && upstream === 'messages')
    return { ...part, sources: part.sources.map(source => ({ ...source, extras: { messages: OWN_PAGE } })) }
  if (part.type !== 'tool-call') return part
  const { freeform: _, ...call } = part
  return { ...call, id: `call_${index}`, arguments: JSON.stringify({ said: part.arguments }) }
}

/** Returns the upstream's answer after its way over the wire. */
const overWire = (answer: CanonicalResult, format: string): CanonicalResult => ({
  ...{ id: 'answer', createdAt: 1, model: 'm' },
  ...READERS[format]!.result!(plain(WRITERS[format]!.result!(answer, asked).wire), asked),
})

const WAYS: { readonly [way: string]: (answer: CanonicalResult, caller: string) => readonly JsonObject[] } = {
  whole: (answer, caller) => ECHOES[caller]!.whole(plain(WRITERS[caller]!.result!(answer, asked).wire.body)),
  streamed: (answer, caller) =>
    ECHOES[caller]!.streamed(dataOf(drain(WRITERS[caller]!.events!(asked), [...unfold(answer)]))),
}

const channel = { models: { named: new Map(), patterns: [] } }

/** A counter-example: a cited empty text with a field of its own. */
const CITED: CanonicalResult = {
  candidates: [
    {
      content: [
        {
          ...{ type: 'text', text: '', extras: { messages: { x_a: 'a' } } },
          annotations: [{ type: 'citation', url: 'http://a.example' }],
        },
      ],
      finish: { reason: 'stop' },
    },
  ],
}

const FORMATS = Object.keys(ECHOES)
const pairs = FORMATS.flatMap(caller =>
  FORMATS.flatMap(upstream => Object.keys(WAYS).map(way => [caller, upstream, way] as const)),
)

describe('echo: the gateway’s own answer, handed back as history, loses nothing', () => {
  it.each(pairs)('a caller of %s before an upstream of %s, %s', (caller, upstream, way) => {
    const target = {
      channel,
      format: { format: upstream, dialect: {} },
      native: caller === upstream,
      upstreamModel: 'm',
    }
    const check = (given: CanonicalResult): void => {
      const echoed = WAYS[way]!(overWire(realistic(given, upstream), upstream), caller)
      const body = plain(ECHOES[caller]!.request(echoed))
      const request: CanonicalRequest = READERS[caller]!.request!({
        path: PATHS[caller]!,
        query: {},
        headers: {},
        body,
      })
      const lost = shownLosses(prepare(request, target as never).losses).filter(
        ({ path, reason }) => path[0] === 'messages' && !Object.hasOwn(EXCEPTIONS, reason),
      )
      expect(lost).toEqual([])
    }
    holds(result, check, [CITED])
  })
})
